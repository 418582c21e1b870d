#pragma once

// The wiring of all hosts of a run.

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// The topology of the first host, and behind it those of the others, whose nodes have " on HOST"
/// behind their names. Cables of two hosts do not meet: what is between them is not known. Without
/// nodes where nothing is known. Throws Failure where one is no topology.
Graph graph_of_hosts(const Result& result);

/// Node::none where that host has no such device. `nic` is called as UCX calls it: "mlx5_0:1",
/// "eth0".
std::size_t find_pci_on(const Graph& graph, std::string_view host, std::string_view pci);
std::size_t find_name_on(const Graph& graph, std::string_view host, const std::string& name);
std::size_t find_nic_on(const Graph& graph, std::string_view host, std::string_view nic);

/// As its own host calls it.
std::string own_name(const Node& node);

}  // namespace ucxbench
