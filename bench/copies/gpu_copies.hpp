#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/memory/cuda_driver.hpp"

namespace ucxbench::copies {

struct Asked {
  std::uint64_t bytes = std::uint64_t{64} << 20U;  ///< of a copy
  int copies = 16;                                 ///< back to back, timed together
  std::vector<int> devices{};                      ///< GPUs by number; empty: all
};

/// Between a GPU and pinned memory on a NUMA node of the host, GB/s.
struct HostCopies {
  int gpu = 0;
  std::optional<int> node{};  ///< empty: the system has no NUMA nodes
  /// Empty, as all rates here, where a sample was shorter than Clock::least_ns().
  std::optional<double> to_gpu_GBps{}, to_host_GBps{};
  std::optional<double> both_ways_GBps{};  ///< both at once, their sum
  /// The peak of the narrowest link in between, each way, by the topology, and what it is from.
  std::optional<double> link_GBps{};
  std::string link_source{};
};

/// From one GPU to another, or inside one.
struct GpuCopies {
  int from = 0, to = 0;
  std::optional<double> GBps{};
  bool direct = true;  ///< else staged in host memory
};

struct Copies {
  Asked asked;
  std::vector<CudaDevice> gpus{};
  bool emulated = false;  ///< by ci/cuda-emulator: the figures are not those of a GPU
  std::vector<HostCopies> host{};
  std::vector<GpuCopies> between{};
};

inline constexpr int samples = 3;

/// Measures the GPUs' copy engines. Each figure is the median of so many samples. A sample is
/// `copies` copies in a stream, from the start of the first to the end of the last by the host's
/// clock. What a figure's samples copy into is poisoned before them, and the data is compared after
/// them. Throws Failure: Exit::cannot_run without a
/// driver, a GPU or the memory, Exit::wrong_data, Exit::usage for a GPU that does not exist.
Copies measure(const Asked& asked);

}  // namespace ucxbench::copies
