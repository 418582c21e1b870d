#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/memory/cuda_driver.hpp"

namespace ucxbench::copies {

struct Asked {
  std::uint64_t bytes = std::uint64_t{64} << 20U;  ///< of a copy
  int copies = 16;                                 ///< one after the other, timed together
  std::vector<int> devices{};                      ///< GPUs by number; empty: all
};

/// Between a GPU and pinned memory on a NUMA node of the host, GB/s.
struct HostCopies {
  int gpu = 0;
  std::optional<int> node{};  ///< empty: the system does not say where memory is
  double to_gpu_GBps = 0, to_host_GBps = 0;
  double both_ways_GBps = 0;  ///< both at once, together
  /// What the topology says that the narrowest link in between carries, each way, and by what.
  std::optional<double> link_GBps{};
  std::string link_source{};
};

/// From one GPU to another, or inside one.
struct GpuCopies {
  int from = 0, to = 0;
  double GBps = 0;
  bool direct = true;  ///< not staged in host memory
};

struct Copies {
  Asked asked;
  std::vector<CudaDevice> gpus{};
  bool emulated = false;  ///< by ci/cuda-emulator: no figure is a GPU's
  std::vector<HostCopies> host{};
  std::vector<GpuCopies> between{};
};

/// By the GPUs' copy engines: each figure is the median of three, of so many copies in a stream
/// from the first one's start to the last one's end by the host's clock. What arrives is compared
/// once for each way. Throws Failure: Exit::cannot_run without a driver, a GPU or the memory,
/// Exit::wrong_data, Exit::usage for a GPU that is not there.
Copies measure(const Asked& asked);

}  // namespace ucxbench::copies
