#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/result/transfers.hpp"

namespace ucxbench {

/// Transfers of one rank, in the order posted. All memory is there from the start; when it is full,
/// further ones are counted and dropped.
class TransferLog {
 public:
  explicit TransferLog(std::size_t capacity) : capacity_(capacity) { records_.reserve(capacity); }

  /// The place of the new record, for complete(); `none` when it is dropped.
  std::size_t post(const Transfer& transfer) {
    if (records_.size() == capacity_) {
      ++dropped_;
      return none;
    }
    records_.push_back(transfer);
    return records_.size() - 1;
  }
  void complete(std::size_t place, std::uint64_t now_ns, bool at_once) {
    if (place == none) return;
    records_[place].completed_ns = now_ns;
    records_[place].at_once = at_once ? 1 : 0;
  }
  void clear() {
    records_.clear();
    dropped_ = 0;
  }

  std::span<const Transfer> records() const { return records_; }
  std::uint64_t dropped() const { return dropped_; }

  static constexpr std::size_t none = ~std::size_t{0};

 private:
  std::size_t capacity_;
  std::vector<Transfer> records_;
  std::uint64_t dropped_ = 0;
};

/// A stretch of time, in nanoseconds.
struct Stretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
};

/// The time that at least one of these covers, in order; no two of what is returned touch. One that
/// ends before it begins covers nothing.
std::vector<Stretch> union_of(std::vector<Stretch> stretches);
/// How long they are together, of which none may overlap.
std::uint64_t sum_ns(std::span<const Stretch> stretches);

}  // namespace ucxbench
