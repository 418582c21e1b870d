#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/comm/mpi_module.hpp"

namespace ucxbench {

/// The module, loaded at the first call, with its MPI. Throws Failure(Exit::cannot_run): there is
/// none in this build, or no MPI on this machine.
const MpiModule& mpi_module();

/// This process among MPI's processes, to which MpirunJob has given it a place.
struct MpiProcess {
  int rank = 0, size = 0;
  std::map<std::string, std::string> effective{};  ///< settings in fact: btl → "self,tcp"
  std::vector<std::string> lanes{};  ///< that messages may take; empty: MPI does not say

  /// Throws Failure(Exit::cannot_run) where it is another of them.
  void check(int rank_here, int size_here) const;
};

/// From the first call, which waits for the other ranks to call it, until the process exits, which
/// they then do, too. Throws Failure(Exit::cannot_run).
const MpiProcess& mpi_process();

/// Throws Failure(Exit::lost) with MPI's words.
void check_mpi(const char* why);
/// Of a message that is over. Throws Failure: Exit::wrong_data where it had another length than
/// `bytes`, Exit::lost where it failed.
void check_mpi(const MpiDone& done, std::uint64_t bytes);

/// What an MPI says of itself, without being started.
struct MpiFound {
  std::string why_not{};  ///< there is none; empty: it can be used on this host
  std::string library{};  ///< "Open MPI v4.1.4"
  std::string mpirun{};   ///< the program
  bool gpu_memory = false;
  bool over_ucx = false;  ///< Open MPI's pml ucx is there
};

/// Loads the library into this process: not for one that starts ranks.
MpiFound find_mpi();

}  // namespace ucxbench
