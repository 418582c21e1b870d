#pragma once

#include <cstdint>

#include "harness/core/host_device.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench::merge {

enum class Side : std::uint32_t { build = 0, probe = 1 };

/// What no build row has: the number of a row, and a key, which marks an empty slot.
inline constexpr std::uint64_t no_row = ~std::uint64_t{0};
inline constexpr std::uint64_t no_key = mix64(~std::uint64_t{0});

/// The rows of a Generator without skew, as a GPU computes them too: in integers, since floating
/// point would not come out alike.
struct Formula {
  bool dask = false;
  std::uint64_t rows_per_rank = 1;  ///< L
  std::uint64_t ranks = 1;          ///< N
  std::uint64_t rows = 1;           ///< LN
  std::uint64_t matches = 0;        ///< M, or N²·m
  std::uint64_t period = 1;         ///< of the permutation: LN, or L for dask
  std::uint64_t multiplier = 1;     ///< coprime to the period, below 2^26
  std::uint64_t offset = 0;
  std::uint64_t from_each = 0;  ///< m of dask
  std::uint64_t salt = 0;       ///< of payloads

  UCXBENCH_HOST_DEVICE std::uint64_t permuted(std::uint64_t row) const {
    return (multiplier * row + offset) % period;
  }

  UCXBENCH_HOST_DEVICE std::uint64_t build_key(std::uint64_t row) const {
    return dask ? row : mix64(row);
  }

  /// The build row whose key probe row q has, or no_row.
  UCXBENCH_HOST_DEVICE std::uint64_t match_of(std::uint64_t q) const {
    if (!dask) {
      const auto row = permuted(q);
      return row < matches ? row : no_row;
    }
    const auto rank = q / rows_per_rank;
    const auto place = permuted(q % rows_per_rank);
    const auto chunk = place / from_each;
    if (chunk >= ranks) return no_row;
    return chunk * rows_per_rank + rank * (rows_per_rank / ranks) + place % from_each;
  }

  /// The key of a probe row that meets none.
  UCXBENCH_HOST_DEVICE std::uint64_t other_key(std::uint64_t q) const {
    return dask ? rows + q : mix64(rows + permuted(q));
  }

  UCXBENCH_HOST_DEVICE std::uint64_t key(Side side, std::uint64_t row) const {
    if (side == Side::build) return build_key(row);
    const auto match = match_of(row);
    return match == no_row ? other_key(row) : build_key(match);
  }

  UCXBENCH_HOST_DEVICE std::uint64_t payload(Side side, std::uint64_t row,
                                             std::uint32_t column) const {
    return salt ^ mix64(row * 0x9e3779b97f4a7c15U + 2 * std::uint64_t{column} +
                        static_cast<std::uint64_t>(side) + 1);
  }
};

/// A matched row as one word: of its key and all payloads, the build side's first. Sums and XORs of
/// it do not depend on where or in which order rows are joined.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t fold(std::uint64_t so_far, std::uint64_t value) {
  return mix64(so_far ^ value) + 0x9e3779b97f4a7c15U;
}

}  // namespace ucxbench::merge
