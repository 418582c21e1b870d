#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/environment.hpp"
#include "harness/launch/launcher.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/result/result.hpp"
#include "harness/run/place.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// What a measuring command does, parsed: its cases for every transport set and memory.
struct Plan {
  std::string name;    ///< among several plans of one run: "case 2"
  std::string origin;  ///< what its failures begin with: "suite.toml:7: case 2"
  std::string benchmark;
  std::vector<int> ranks;  ///< each number is measured by itself
  std::vector<CommKind> comms = {CommKind::ucx};
  /// Measured by launches of their own; of no meaning where one launch measures several modes.
  std::vector<ProgressMode> modes = {ProgressMode{}};
  std::vector<TransportSet> sets;
  bool ablate = false;  ///< every set that exists here, instead of `sets`
  std::vector<std::vector<MemoryKind>> memory;
  std::string no_gpu_memory;  ///< why this command cannot use it; empty if it can
  std::vector<int> devices;
  std::uint64_t pool_bytes = 0;
  std::optional<bool> gdr;
  std::string net_devices = "auto";  ///< as --net-devices
  std::optional<TransportSet> require;
  bool allow_same_gpu = false;
  bool no_memory_copy = false;
  bool sockaddr = false;  ///< endpoints are made through a listener
  /// At a place of which only memory, transports, network devices, ranks, comm and progress count,
  /// where the local ranks have so many CPUs.
  std::function<std::vector<Case>(const Place&, int cpus)> cases;
  std::chrono::milliseconds timeout{60'000};  ///< longest wait without progress
  std::string wrap;
  std::vector<std::vector<int>> cpus;  ///< by rank, of the most; empty: not bound
  int busy_threads = 1;                ///< of each rank: so many CPUs it wants
  bool bind_by_wiring = false;         ///< --bind auto: near to its data
  Variables ucx;                       ///< --ucx
  int estimated_eps = 0;               ///< --estimated-eps
  bool one_peer = false;               ///< each rank has one endpoint, however many ranks there are
  bool strict = false;                 ///< a set that cannot run is a failure of the run
  std::optional<std::string> listen;   ///< where the other hosts are waited for
  std::shared_ptr<Launcher> launcher;  ///< by which they find this one; null: none
  int hosts = 1;                       ///< as many ranks on each
  bool hosts_in_turns = false;         ///< neighbouring ranks are on two hosts
  std::string token_file;

  int most_ranks() const { return *std::ranges::max_element(ranks); }
  int ranks_of_host(int all) const { return all / hosts; }
  /// By rank, the number of its host.
  std::vector<int> hosts_of(int all) const {
    std::vector<int> of(static_cast<std::size_t>(all));
    for (int rank = 0; rank < all; ++rank) {
      of[static_cast<std::size_t>(rank)] =
          hosts_in_turns ? rank % hosts : rank / ranks_of_host(all);
    }
    return of;
  }
};

/// Where the cases of one launch are measured.
inline Place case_place(const TransportSet& set, const std::vector<MemoryKind>& memory, int ranks,
                        const std::string& net_devices = "", CommKind comm = CommKind::ucx) {
  Place place;
  place.memory.clear();
  for (const auto kind : memory) place.memory.emplace_back(to_string(kind));
  place.transports = set.members();
  place.net_devices = net_devices;
  place.ranks = ranks;
  place.comm = comm;
  return place;
}

}  // namespace ucxbench
