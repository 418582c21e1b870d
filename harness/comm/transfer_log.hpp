#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ucxbench {

/// One message as one of its ends saw it. Written to files as it is, little-endian, 48 bytes.
struct Transfer {
  std::uint64_t posted_ns = 0;     ///< CLOCK_MONOTONIC
  std::uint64_t completed_ns = 0;  ///< 0: not yet
  std::uint64_t bytes = 0;
  std::uint64_t label = 0;  ///< as given to Communicator::send; equal on both ends
  std::uint16_t rank = 0;   ///< whose record it is
  std::uint16_t peer = 0;
  std::uint16_t in_flight = 0;  ///< of this rank when it was posted, 65535 and more as that
  std::uint8_t receives = 0;    ///< 1 on the receiver
  std::uint8_t at_once = 0;     ///< 1: complete when the call that posted it returned
  std::uint32_t iteration = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Transfer) == 48);

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

/// Nanoseconds during which at least one of these transfers was under way: the union of their
/// intervals.
std::uint64_t busy_ns(std::span<const Transfer> transfers);

}  // namespace ucxbench
