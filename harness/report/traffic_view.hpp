#pragma once

#include "harness/report/text.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// Of a case that replays the traffic of a recorded run; of others they are empty.

/// Which rank waited, and for whom; those that waited longest first.
Grid waits_of(const Case& of);

/// For each pair of ranks the sizes of its messages, the path that it has here, what that allows,
/// and how much of it the recorded run and this one reached; those that reached least come first.
Grid traffic_of(const Case& of);

}  // namespace ucxbench
