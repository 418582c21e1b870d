#pragma once

#include <cstdint>

#include "bench/kv/layout.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench::kv {

/// Writes what a prefill rank's memory has in a round, counted over all sessions.
void fill(const Layout& layout, int rank, std::uint64_t round, Buffer& memory);

/// Compares every block of a decode rank's memory with that of its prefill rank: each is one check.
Checks check_blocks(const Layout& layout, int rank, std::uint64_t round, const Buffer& memory);

}  // namespace ucxbench::kv
