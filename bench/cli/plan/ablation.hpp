#pragma once

#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// The sets of --ablate: every one of the transports that exist here, with nvlink only if there is
/// GPU memory to carry, and UCX's own choice to compare them with.
std::vector<TransportSet> ablation_sets(const UcxResources& ucx, bool gpu_memory);

/// Whether a device's part in it has this set. Sockets have tcp and shm alone: of two ways within a
/// host they take one, so that any other set would be one of these again.
bool ablates(CommKind comm, const TransportSet& set);

}  // namespace ucxbench
