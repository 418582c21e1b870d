#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// The way from one node to another: over NVLinks where both ends have them, else through the
/// tree.
struct Path {
  PathClass path_class;
  /// In Graph::links, in order; over NVLinks all that carry a part, through several switches too.
  std::vector<std::size_t> links;
  /// One way, GB/s: the narrowest known link crossed. Over NVLinks the sum of the parallel ones.
  std::optional<double> capacity_GBps;
  std::string source;     ///< of that capacity
  bool complete = false;  ///< no link of unknown capacity is crossed: else it is at most that
};

/// What the source stated of the pair, else what the links show.
PathClass class_between(const Graph& graph, std::size_t a, std::size_t b);

Path path_between(const Graph& graph, std::size_t from, std::size_t to);

/// Those at the least distance, which is unknown if there are none.
struct Nearest {
  std::vector<std::size_t> nodes;
  PathClass path_class;
};

/// The NICs nearest to a GPU or a NUMA node.
Nearest nearest_nics(const Graph& graph, std::size_t node);

/// The logical CPUs nearest to a device: its own, else those of the NUMA node it hangs from.
std::optional<std::vector<int>> nearest_cpus(const Graph& graph, std::size_t node);

/// The NUMA node that a device belongs to, by the tree or by what it says of itself.
std::optional<int> numa_of(const Graph& graph, std::size_t node);

}  // namespace ucxbench
