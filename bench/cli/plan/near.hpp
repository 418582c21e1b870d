#pragma once

// Placing ranks by how this machine is wired.

#include <string>
#include <vector>

#include "harness/run/probe.hpp"
#include "harness/topology/placement.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

struct Wiring {
  Graph graph;                          ///< without nodes where it is not known
  std::vector<std::string> gpus;        ///< PCI addresses, by CUDA's numbers
  std::vector<std::string> rdma_ports;  ///< "mlx5_0:1": those that are up
};

Wiring wiring_of(const Probe& found);

/// By rank, its GPU where `on_gpu` (of `devices`, as --devs has them, round again), else the NUMA
/// node of its CPUs, else one of those that spread_over_numa gives.
DataPlaces data_of_ranks(const Wiring& wiring, const std::vector<std::vector<int>>& cpus,
                         const std::vector<int>& devices, bool on_gpu, bool beside_nics);

/// CPUs for each rank, and how they were chosen, for the run file.
struct ChosenCpus {
  std::vector<std::vector<int>> cpus;
  std::string how;
};

/// `--bind auto`: `threads` CPUs near to each rank's data, or `otherwise` where nothing is known of
/// them, there is one NUMA node only, or too few are near. `otherwise` without CPUs, of more ranks
/// than there are, stays.
ChosenCpus cpus_by_wiring(const Wiring& wiring, const std::vector<std::vector<int>>& otherwise,
                          const std::vector<int>& devices, bool on_gpu, bool beside_nics,
                          const std::vector<int>& allowed, int threads);

/// UCX_NET_DEVICES of each rank: the port of the NIC nearest to its data, after `route` where the
/// set may use TCP. Empty where not every rank has one, or `route` is "all".
std::vector<std::string> nearest_net_devices(const Wiring& wiring, const DataPlaces& data,
                                             const TransportSet& set, const std::string& route);

}  // namespace ucxbench
