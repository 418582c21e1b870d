#pragma once

#include <cstdint>
#include <string>

#include "bench/kv/layout.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench::kv {

/// Writes what a prefill rank's memory has in a session.
void fill(const Layout& layout, int rank, std::uint64_t session, Buffer& memory);

/// Compares every block of a decode rank's memory with that of its prefill rank. The first block
/// that differs, in words; empty if all are right.
std::string wrong_block(const Layout& layout, int rank, std::uint64_t session,
                        const Buffer& memory);

}  // namespace ucxbench::kv
