#pragma once

// What a run's messages used, so that no finding speaks of anything else.

#include <set>
#include <string>

#include "harness/result/result.hpp"
#include "harness/result/transports.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// What a finding may speak of. A rule names one or several: one that was used is enough.
enum Use : unsigned {
  any_run = 0,           ///< every run: the host, the ranks, the samples
  by_any_ucx = 1U << 0,  ///< messages that UCX moved; cases by another back end are not shown to it
  over_shm = 1U << 1,    ///< UCX's shared memory
  over_tcp = 1U << 2,    ///< TCP, by whatever back end
  over_nvlink = 1U << 3,
  over_ib = 1U << 4,
  of_gpu_memory = 1U << 5,
  asked_for_ib = 1U << 6,  ///< a set has it, or leaves the choice to UCX, whatever carried
};

struct Used {
  unsigned uses = 0;
  /// The network devices that carried messages, as lanes and topology call them, without ports:
  /// "lo", "mlx5_0".
  std::set<std::string> devices{};
  bool all_devices = false;  ///< which of them is not known

  /// Whether any of `of` was used; true of any_run.
  bool any_of(unsigned of) const { return of == any_run || (uses & of) != 0; }
  /// Whether messages went by this device; true without a name. The port does not matter.
  bool has_device(const std::string& name) const;
};

/// By what carried the messages; where that is not known by the lanes, else by what was asked for.
/// Of less than 5 % of the payload nothing is said: it is connecting and answers. A run without
/// cases, before it begins, may use everything. `graph` is of all its hosts.
Used used_by(const Result& result, const Graph& graph);

/// A case was asked to use transports of this fabric, by name or by `auto`.
bool asks_for(const Case& of, Fabric fabric);

}  // namespace ucxbench
