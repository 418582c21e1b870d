#pragma once

#include <vector>

#include "harness/analysis/limits/gpu_pairs.hpp"
#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// The pairs of a case on two hosts of `graph` (wired_hosts.hpp) whose bytes TCP or InfiniBand
/// carried, from where their data are (a GPU, the NUMA node of a rank's CPUs, or the host). The
/// NICs are those of a rank's lanes, else those that its UCX_NET_DEVICES names; where one of them
/// is not in the graph, as a virtual device is not, they are not known.
std::vector<GpuPair> network_pairs(const Case& of, const Result& result, const Graph& graph);

}  // namespace ucxbench
