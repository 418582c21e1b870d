#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/limits/limits.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Two ranks on different GPUs of the graph.
struct GpuPair {
  std::size_t pair = 0;          ///< in Case::pairs
  std::size_t from = 0, to = 0;  ///< in Graph::nodes
  std::string carrier{};         ///< the transport that carried it; empty: not known, or several
  std::optional<Flow> flow{};    ///< of load_of() bytes; empty where its way is not known
};

/// Of a case between GPU memories, those on one host, and those on two that NVLinks join.
std::vector<GpuPair> gpu_pairs(const Case& of, const Result& result, const Graph& graph);

}  // namespace ucxbench
