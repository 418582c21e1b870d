#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// A run with invented numbers for the tests of all that reads runs: a measured set, one with a
/// failed size, and a skipped one; six launches between two ranks.
Result sample_result();

/// Another: one launch, four ranks in two pairs at once.
Result sample_of_pairs();

/// Another: a merge over tcp on 1, 2 and 4 ranks, six launches of each; from rank 3 to rank 0 there
/// is no message that is large enough to count.
Result sample_of_workload();

}  // namespace ucxbench
