#pragma once

#include <string>
#include <vector>

#include "harness/analysis/limits/limits.hpp"
#include "harness/core/json.hpp"

namespace ucxbench {

/// All GPUs of a machine send as much to every other at the same time.
struct AllToAll {
  std::string route;        ///< "NVLink", "NVLink, else PCIe", "NVLink, else the nearest NIC"
  double per_gpu_GBps = 0;  ///< at most, of what each sends
  Limits limits;            ///< of flows of one byte
};

/// By each route that the machine has, as far as there is a bound; empty below two GPUs. By way of
/// NICs only where each GPU that needs one has one nearest.
std::vector<AllToAll> all_to_all_of(const Graph& graph, Basis basis = Basis::specification);

/// The same of some of its GPUs. The flows go from the first to all others, then from the second …
std::vector<AllToAll> all_to_all_among(const Graph& graph, const std::vector<std::size_t>& gpus,
                                       Basis basis = Basis::specification);

/// Why capacities are unknown of resources that have something to carry, each reason once.
std::vector<std::string> unknown_in(const Limits& limits);

/// For `ucx-bench topo --format json`: [{traffic, route, per_gpu_GBps, resource, resource_GBps,
/// source, unknown}].
Json limits_json(const Graph& graph);

}  // namespace ucxbench
