#pragma once

#include <cstdint>
#include <functional>

#include "workloads/transpose/formula.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// What a tile of y must add up to. Calls `progress` now and then.
Checksum expected(std::uint64_t size, const Tile& tile, const std::function<void()>& progress);

/// The plain sum of a tile of x.
std::uint64_t sum_of_x(std::uint64_t size, const Tile& tile);

}  // namespace ucxbench::transpose
