#pragma once

#include <cstdint>
#include <span>

#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

/// Whether this CPU has the instructions of the x86-64-v4 level, which the fast kernels use.
bool has_avx512();

/// bucket[i] = the bucket of keys[i].
void find_buckets(std::span<const std::uint64_t> keys, const Spread& spread, std::uint32_t* bucket);

}  // namespace ucxbench::merge
