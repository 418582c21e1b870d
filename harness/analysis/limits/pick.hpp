#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/analysis/limits/machine_limits.hpp"

namespace ucxbench {

/// Some GPUs of a machine, and what all of them can send each other at the same time.
struct PickedGpus {
  std::vector<std::size_t> gpus;  ///< in Graph::nodes; neighbours have wide links
  AllToAll reach;                 ///< by the route that reaches most

  /// Nothing of unknown capacity is crossed: else it is at most that.
  bool complete() const { return reach.limits.unknown.empty(); }
};

struct Pick {
  PickedGpus best;
  PickedGpus naive;         ///< as many, by their numbers
  bool exhaustive = false;  ///< every choice was looked at, else the best pair was added to
};

/// The `count` GPUs for which the bound of every one to every other is highest; one that leaves
/// nothing out counts before one that does, then the sum over all pairs alone, then low numbers.
/// Their order is the ring whose narrowest link is widest, from the lowest number on. Every choice
/// is looked at up to 12870 of them (8 of 16), every ring up to 9 GPUs. Throws Failure(Exit::usage)
/// for fewer than 2 GPUs or more than there are, and where no capacity is known.
Pick pick_gpus(const Graph& graph, std::size_t count);

}  // namespace ucxbench
