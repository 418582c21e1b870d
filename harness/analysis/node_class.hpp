#pragma once

#include <string>
#include <vector>

#include "harness/core/json.hpp"

namespace ucxbench {

/// Nodes of one class are expected to reach the same: they have the same processor, GPUs and
/// adapters.
struct NodeClass {
  std::string name{};               ///< as a site calls it
  std::string cpu{};                ///< model; empty: not known
  std::vector<std::string> gpus{};  ///< "8 x NVIDIA A100-SXM4-80GB", by model
  std::vector<std::string> nics{};  ///< "2 x MT4123"

  /// Whatever they are called.
  bool same(const NodeClass& other) const {
    return cpu == other.cpu && gpus == other.gpus && nics == other.nics;
  }
};

/// That of an entry of `machine.hosts`.
NodeClass class_of_host(const Json& host);

/// "CPU AMD EPYC 7742, 8 x NVIDIA A100-SXM4-80GB, 2 x MT4123".
std::string in_words(const NodeClass& node);

}  // namespace ucxbench
