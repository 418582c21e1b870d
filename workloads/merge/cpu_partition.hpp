#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

// The partition pass on the CPU (Kernels::count and scatter). Rows are written by whole cache lines
// past the caches: each bucket and column collects a line, as in Wassenberg and Sanders,
// "Engineering a multi-core radix sort", 2011.

std::vector<std::uint64_t> count_buckets(const Rows& table, const Spread& spread,
                                         const Kernels::Progress& progress);

void scatter_rows(const Rows& table, std::uint32_t columns, const Spread& spread,
                  const std::vector<std::uint64_t>& starts,
                  const std::vector<std::uint64_t>& strides, std::uint64_t* out,
                  const Kernels::Progress& progress);

}  // namespace ucxbench::merge
