#pragma once

// Which CPUs and which NIC a rank should have, by where its data are.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// By rank, in Graph::nodes: the GPU or NUMA node that has its data; empty where that is not known.
using DataPlaces = std::vector<std::optional<std::size_t>>;

/// Ranks whose data are in host memory: the pairs 2k and 2k + 1, which stay neighbours, go round
/// the NUMA nodes that have CPUs; with `beside_nics` round those that have a NIC too, if any has.
/// All empty where no NUMA node has known CPUs.
DataPlaces spread_over_numa(const Graph& graph, std::size_t ranks, bool beside_nics);

/// Whether a NIC's port may carry messages: it is up, or its state and that of all others is not
/// known.
bool may_carry(const Graph& graph, std::size_t nic);

/// By rank the NIC nearest to its data, of those that `usable` takes. Of several equally near the
/// one that has the fewest ranks so far; empty where none is known to be near or far.
DataPlaces nearest_nic_each(const Graph& graph, const DataPlaces& data,
                            const std::function<bool(std::size_t)>& usable);

/// By rank the CPUs near to its data, ascending. Ranks that have the same near CPUs get a part of
/// them each, and none is left over: of every range of successive numbers a part, since a range has
/// whole cores, or one hardware thread of each. Where there are fewer CPUs than ranks each gets all
/// of them. Empty where nothing is known.
std::vector<std::vector<int>> cpus_near(const Graph& graph, const DataPlaces& data);

/// `threads` CPUs for each rank, of those near to its data, in the order of `allowed`; no two ranks
/// share one. Where there are not so many for every rank, one each. Empty where any rank's near
/// CPUs are not known or do not suffice.
std::optional<std::vector<std::vector<int>>> bind_near(const Graph& graph, const DataPlaces& data,
                                                       const std::vector<int>& allowed,
                                                       int threads);

}  // namespace ucxbench
