#pragma once

#include <vector>

#include "harness/comm/transport_set.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {

/// The sets of --ablate: every one of the transports that exist here, with nvlink only if there is
/// GPU memory to carry, and UCX's own choice to compare them with. Throws Failure(Exit::cannot_run)
/// when none exists.
std::vector<TransportSet> ablation_sets(const UcxResources& ucx, bool gpu_memory);

}  // namespace ucxbench
