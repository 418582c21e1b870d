#pragma once

#include <cstdint>
#include <vector>

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/kernels.hpp"

namespace ucxbench::merge {

// The partition pass on the CPU: Kernels::count and scatter.

std::vector<std::uint64_t> count_buckets(const RowCode& code, const Rows& table,
                                         const Spread& spread, const Kernels::Progress& progress);

void scatter_rows(const RowCode& code, const Rows& table, std::uint32_t columns,
                  const Spread& spread, const std::vector<std::uint64_t>& starts,
                  const std::vector<std::uint64_t>& strides, std::uint64_t* out,
                  const Kernels::Progress& progress);

}  // namespace ucxbench::merge
