#pragma once

#include <cstdint>

namespace ucxbench {

/// Lets this process, and the ranks that it starts, have enough files open at once for `ranks`
/// ranks on this host of `peers` peers each: raises the soft limit as far as it may, where it is
/// too low. Throws Failure(Exit::cannot_run) with the number needed where the hard limit is lower.
void allow_open_files(int ranks, int peers);

/// That many.
std::uint64_t open_files_needed(int ranks, int peers);

}  // namespace ucxbench
