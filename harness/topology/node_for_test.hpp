#pragma once

#include <string>

#include "harness/topology/graph.hpp"

namespace ucxbench {

inline std::size_t add_node(Graph& graph, NodeKind kind, const std::string& name) {
  Node node;
  node.kind = kind;
  node.name = name;
  return graph.add(std::move(node));
}

}  // namespace ucxbench
