#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Adds to a run that is over all that follows from what was measured: what its machine lets each
/// case reach (add_limits), which hosts and links are slow (add_sweep), LogGP's parameters
/// (loggp_of), and what the rules see in it (findings_of). May be called again.
void annotate(Result& result);

/// To a run that was read from a file: the findings of today's rules in place of the recorded ones,
/// and, where cases failed, tables of ways and fits without them. Whoever shows a run to people
/// calls it first, so that all views show the same.
void judge_anew(Result& result);

}  // namespace ucxbench
