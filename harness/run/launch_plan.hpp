#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/supervisor.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// The cases that one set of rank processes measures, because they need the same environment: one
/// transport set, one pair of memories, one number of ranks. Each launch starts the ranks anew.
struct LaunchPlan {
  std::string name;  ///< "tcp+nvlink", "tcp+nvlink, cuda-host, ranks 4"
  std::string benchmark;
  TransportSet set;
  std::vector<MemoryKind> memory;        ///< sent from, received into
  int ranks = 2;                         ///< of all hosts
  std::vector<std::size_t> cases;        ///< in Result::cases
  std::vector<UcxSetting> settings;      ///< of the set, with their reasons
  std::vector<std::string> net_devices;  ///< UCX_NET_DEVICES by rank; empty: as in `settings`
  Variables asked;                       ///< UCX settings of the set and of the user, who wins
  std::string unavailable;               ///< why it cannot run here; empty when it can
  bool strict = false;                   ///< that it cannot run is a failure of the run
  std::optional<TransportSet> require;   ///< what must have carried its bytes
  bool allow_same_gpu = false;           ///< a copy inside one GPU will do for `require`
  bool no_memory_copy = false;           ///< host memory is not copied for its sake
  bool crowded = false;                  ///< those of this host outnumber the CPUs that they have
  std::size_t first_turn = 0;            ///< of a tournament of ranks: those before are measured
  Launch launch;                         ///< how its ranks start; without what a run adds
};

}  // namespace ucxbench
