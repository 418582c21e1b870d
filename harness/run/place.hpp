#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/core/field.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// Fresh sets of processes, where nothing else is asked for.
inline constexpr int usual_launches = 6;

/// Where a case is measured, and how its ranks reach each other: what the parameters of every
/// benchmark begin with.
struct Place {
  std::vector<std::string> memory = {"host", "host"};  ///< sent from, received into
  std::vector<std::string> transports;                 ///< members of the set
  CommKind comm = CommKind::ucx;
  std::string net_devices;  ///< UCX_NET_DEVICES; empty: UCX's choice
  ConnectBy connect_by = ConnectBy::address;
  ProgressMode progress;  ///< in a case never "auto"
  int ranks = 2;
  int launches = usual_launches;  ///< fresh sets of processes, all of which measure the case
  bool no_pool = false;           ///< each buffer an allocation of its own
  std::uint64_t pool_bytes = 0;   ///< of each GPU memory kind's pool; 0: what the buffers need
  std::vector<int> devices;       ///< GPUs, rank by rank and round again; empty: all there are

  MemoryKind sent_from() const { return parse_memory_kind(memory.front()); }
  MemoryKind received_into() const { return parse_memory_kind(memory.back()); }
  bool pool() const { return !no_pool; }
};

/// Whether messages come from or go to a GPU.
bool uses_gpu(const Place& place);

// Fields of a Place, for a benchmark to name those that it has.

/// Memory, transports and network devices, which the options that all benchmarks share decide.
Fields<Place> place_fields();
/// --ranks; `help` says which numbers. `key`: pingpong's has two unless it says otherwise.
Fields<Place> ranks_field(const std::string& help, Key key);
/// The same of a benchmark that measures several numbers one by one.
Fields<Place> ranks_list_field(Key key);
/// --comm, of a benchmark that runs over a Communicator; several are measured one by one.
Fields<Place> comm_field();
Fields<Place> connect_by_field();
/// --progress-mode: auto, poll or event; several are measured one by one.
Fields<Place> progress_mode_field();
/// The same of a benchmark that has every mode, and measures several in one launch.
Fields<Place> progress_modes_field();
Fields<Place> devices_field();
Fields<Place> pool_size_field();
Fields<Place> no_pool_field();

}  // namespace ucxbench
