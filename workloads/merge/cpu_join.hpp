#pragma once

#include <cstdint>
#include <span>

#include "harness/memory/buffer.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// A hash table of unique keys with their payloads: open addressing with linear probing at a load
/// of one half. One table after the other is made in the same memory.
class LocalJoin {
 public:
  LocalJoin(std::uint32_t columns, std::uint64_t largest_build, const Kernels::Allocate& allocate);

  void build(std::span<const Rows> segments);
  void probe(const Rows& segment, Joined& out) const;

 private:
  void insert(const Rows& segment);
  void probe_plain(const Rows& segment, std::uint64_t from, Joined& out) const;
  void probe_avx512(const Rows& segment, Joined& out) const;

  std::uint32_t columns_;
  std::uint64_t capacity_;  ///< slots, beside those past the end that a probe may run into
  std::uint64_t slots_ = 1;
  Buffer memory_;
  std::uint64_t* words_;  ///< keys, then each payload column, `stride_` words apart
  std::uint64_t stride_;
  bool avx512_;
};

}  // namespace ucxbench::merge
