#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ci/cuda-emulator/machine.hpp"

namespace emulator {

/// Bytes that crossed a device's links since the machine was started, which is by default this
/// process, and the life of the file CUDA_EMULATOR_COUNTERS where that is set: then all
/// processes with the same file see each other's bytes, as with a real machine.
struct LinkCounters {
  std::atomic<std::uint64_t> nvlink_sent, nvlink_received, pcie_sent, pcie_received;
};

/// Exported, since NVML is another library.
__attribute__((visibility("default"))) std::array<LinkCounters, MAX_DEVICES>& link_counters();

}  // namespace emulator
