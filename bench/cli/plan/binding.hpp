#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// The CPUs of each rank by `--bind`: "auto", "none", or a list with one CPU per rank. `threads` is
/// how many busy threads a rank has. Throws Failure(Exit::usage) for a CPU that is not there or not
/// allowed, and for a list of the wrong length.
std::vector<std::vector<int>> cpus_of_ranks(const std::string& bind, int ranks, int threads);

/// Hosts of a run may be one machine (two shells, several processes that a launcher has started):
/// those that may use the same CPUs there take theirs side by side.
struct Seat {
  int index = 0;  ///< of `of`
  int of = 1;
  int cpus = 1;    ///< that all of them may use
  int before = 0;  ///< hosts of the run that are the same machine, whatever their CPUs
};

/// As cpus_of_ranks, for the `ranks` of one of several hosts.
std::vector<std::vector<int>> cpus_of_seat(const std::string& bind, int ranks, int threads,
                                           const Seat& seat);

/// UCX_NET_DEVICES of a set by `--net-devices`: "auto" is `route` for a set that may use TCP, with
/// the active RDMA ports where it may use them too, and nothing (UCX's own choice) otherwise; so is
/// "nearest" where no rank has a nearest one of its own.
/// `check` refuses devices that this machine does not have with Failure(Exit::usage).
std::string net_devices_of(const std::string& option, const TransportSet& set,
                           const std::string& route, bool check,
                           const std::filesystem::path& infiniband = "/sys/class/infiniband");

/// Refuses "nearest" for --listen and --connect, each of which knows only its own machine, with
/// Failure(Exit::usage).
void refuse_nearest(const std::string& option);

/// The network device that carries what goes to the other end of a connected socket: "lo" for a
/// peer on this machine.
std::string device_of_connection(int socket);

}  // namespace ucxbench
