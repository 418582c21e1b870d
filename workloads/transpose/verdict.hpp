#pragma once

#include <cstdint>
#include <string>

#include "workloads/transpose/generator.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// What is wrong with tile (i, j) of y, which adds up to `made`; nothing where it is right.
std::string what_is_wrong(const Layout& layout, std::uint64_t i, std::uint64_t j,
                          const Checksum& expected, const Checksum& made);

}  // namespace ucxbench::transpose
