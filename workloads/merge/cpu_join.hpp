#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/memory/buffer.hpp"
#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// Joins by a hash table of unique keys with their payloads, at a load of one half. One table after
/// the other is made in the same memory.
class LocalJoin {
 public:
  LocalJoin(const RowCode& code, std::uint32_t columns, std::uint64_t largest_build,
            const Kernels::Allocate& allocate, Kernels::Progress progress);

  void build(std::span<const Rows> segments);
  void probe(const Rows& segment, Joined& out);

 private:
  void insert(const Rows& block);
  void write(const Rows& block, Joined& out) const;

  RowCode code_;
  Kernels::Progress progress_;
  std::uint64_t most_lines_, lines_ = 1;
  Buffer memory_;
  std::vector<std::uint8_t> filled_;
  RowTable table_;
  Matches matches_;
};

}  // namespace ucxbench::merge
