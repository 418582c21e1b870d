#pragma once

#include <string>
#include <vector>

#include "harness/comm/mpi_library.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// What a transport set is in Open MPI's terms, and why: with tcp and shm its pml ob1 over the btl
/// of that name; with ib or nvlink its pml ucx, with the set's own settings of UCX; with auto its
/// choice. `crowded`: ranks outnumber the CPUs.
std::vector<UcxSetting> mpi_settings(const TransportSet& set, const SetUse& use, bool crowded);

/// Why MPI cannot carry messages so; empty where it can.
std::string why_no_mpi(const MpiFound& found, const TransportSet& set, bool gpu_memory,
                       const SetUse& use);

}  // namespace ucxbench
