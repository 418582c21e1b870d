#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Whether a launch's record of what carried it must stand for its case instead of `other`: a case
/// is what its worst pair and launch were (as-asked, unknown, partly, other), and counters make a
/// record worth more than one of the same verdict without.
bool says_worse(const Json& path, const Json& other);

}  // namespace ucxbench
