#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/field.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// Which transports a command's ranks may use, and which must have carried the bytes.
struct TransportOptions {
  std::vector<std::string> transports;
  bool enable_tcp = false, enable_nvlink = false, enable_infiniband = false;
  std::string net_devices = "auto";
  std::optional<bool> gdr;  ///< as SetUse has it
  std::string require;
  bool allow_same_gpu = false;
  bool strict = false;
  int estimated_eps = 0;  ///< what UCX is told; 0: as many endpoints as each rank makes
  std::vector<std::string> ucx;

  /// The sets that were named, in either spelling; `usual` where none was, and `self` for one rank.
  /// Throws Failure(Exit::usage).
  std::vector<TransportSet> sets(int ranks, const std::vector<std::string>& usual) const;

  /// Whether any set was named.
  bool any_set() const;

  /// --require, which every one of `sets` must ask for. Throws Failure(Exit::usage).
  std::optional<TransportSet> required(const std::vector<TransportSet>& sets) const;
};

const std::vector<Field>& transport_fields();

}  // namespace ucxbench
