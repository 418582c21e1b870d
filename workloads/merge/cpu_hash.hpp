#pragma once

#include <cstdint>
#include <span>

#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

/// bucket[i] = the bucket of keys[i].
void find_buckets(std::span<const std::uint64_t> keys, const Spread& spread, std::uint32_t* bucket);

}  // namespace ucxbench::merge
