#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/memory/buffer.hpp"
#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// Joins by a hash table of unique keys with their payloads, at a load of one half. One table after
/// the other is made in the same memory. Rows of a table far beyond the cache are partitioned once
/// more: what they are put into or looked up in is then a region of it that fits.
class LocalJoin {
 public:
  /// Half of a second-level cache; of few processors that have AVX2 it is smaller.
  static constexpr std::uint64_t cache_bytes = std::uint64_t{512} << 10U;
  /// From twice that on a pass costs less than it saves, and up to that more: measured with
  /// bench/micro/merge_rows.
  static constexpr std::uint64_t far_bytes = std::uint64_t{32} << 20U;

  /// Tables of more bytes than `once` are beyond a single pass.
  LocalJoin(const RowCode& code, std::uint32_t columns, std::uint64_t largest_build,
            const Kernels::Allocate& allocate, Kernels::Progress progress,
            std::uint64_t once = far_bytes);

  void build(std::span<const Rows> segments);
  void probe(std::span<const Rows> segments, Joined& out);

 private:
  std::uint64_t bytes_of(std::uint64_t lines) const;
  std::uint64_t regions_for(std::uint64_t rows) const;
  std::uint64_t lines_for(std::uint64_t rows) const;
  template <typename Use>
  void by_region(std::span<const Rows> segments, Use use);
  std::vector<Rows> partitioned(std::span<const Rows> segments);
  void insert(const Rows& block);
  void write(const Rows& block, Joined& out) const;

  RowCode code_;
  Kernels::Progress progress_;
  std::uint32_t columns_;
  std::uint64_t most_rows_, once_;
  std::uint64_t lines_ = 1;
  std::uint64_t regions_ = 1;  ///< of lines_ / regions_ lines each
  Buffer memory_;
  std::optional<Buffer> scratch_;  ///< for as many rows as a table has at most
  std::vector<std::uint8_t> filled_;
  RowTable table_;
  Matches matches_;
};

}  // namespace ucxbench::merge
