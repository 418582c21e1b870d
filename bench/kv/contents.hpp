#pragma once

#include <cstdint>
#include <string>

#include "bench/kv/layout.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench::kv {

/// What a prefill rank's memory has in a session.
void fill(const Layout& layout, int rank, std::uint64_t session, Buffer& memory);

/// Looks at every block of a decode rank's memory: in words the first that is not what its prefill
/// rank has of it; empty: all are right.
std::string wrong_block(const Layout& layout, int rank, std::uint64_t session,
                        const Buffer& memory);

}  // namespace ucxbench::kv
