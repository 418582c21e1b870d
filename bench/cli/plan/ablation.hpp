#pragma once

#include <vector>

#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// The sets of --ablate: every one of the transports that exist here, with nvlink only if there is
/// GPU memory to carry, and UCX's own choice to compare them with.
std::vector<TransportSet> ablation_sets(const UcxResources& ucx, bool gpu_memory);

}  // namespace ucxbench
