#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// A run with invented numbers for the tests of all that reads runs: a measured set, one with a
/// failed size, and a skipped one; six launches between two ranks.
Result sample_result();

/// Another: one launch, four ranks in two pairs at once.
Result sample_of_pairs();

}  // namespace ucxbench
