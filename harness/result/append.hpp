#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Adds the launches of `more`, a later part of the same measurement (one launch of a suite, say),
/// to `run`, and sums up each case anew; findings and limits are the caller's. Facts of the machine
/// and of the ranks stay those of the first part; the state of the last counts. What a part logged
/// of transfers stays with it. Throws Failure(Exit::usage), and leaves `run` as it is, where `more`
/// is of another machine, build, UCX or topology, has a case that `run` lacks, or a launch that is
/// there.
void append_launches(Result& run, const Result& more);

}  // namespace ucxbench
