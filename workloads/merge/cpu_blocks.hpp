#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

/// Goes through rows in blocks of up to block_rows; calls `progress` each 100 µs or so.
template <typename Use>
void for_blocks(const Rows& rows, const Kernels::Progress& progress, Use use) {
  constexpr std::uint64_t pace = 32 * block_rows;
  for (std::uint64_t first = 0; first < rows.rows; first += block_rows) {
    use(Rows{rows.words + first, std::min(block_rows, rows.rows - first), rows.stride});
    if (first % pace == 0) progress();
  }
}

}  // namespace ucxbench::merge
