#pragma once

#include <string>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// For a terminal: the matrix of classes between GPUs and NICs; where each of them is and which NIC
/// is nearest to a GPU; the NUMA nodes; what paths of each class can carry, by whose word, and what
/// all GPUs can at once. "?" is unknown, "-" does not apply.
std::string topology_text(const Graph& graph);

}  // namespace ucxbench
