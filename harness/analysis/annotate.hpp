#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Adds to a run that is over all that follows from what was measured: what its machine lets each
/// case reach (add_limits), which hosts and links are slow (add_sweep), LogGP's parameters
/// (loggp_of), and what the rules see in it (findings_of). May be called again.
void annotate(Result& result);

}  // namespace ucxbench
