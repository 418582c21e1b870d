#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ci/cuda-emulator/driver.hpp"

namespace emulator {

constexpr int MAX_DEVICES = 16;

/// What the environment says is plugged in. NVML sees all of it, CUDA what CUDA_VISIBLE_DEVICES
/// leaves.
struct Machine {
  int devices;               // CUDA_EMULATOR_GPUS, default 2
  std::uint64_t bytes;       // of each: CUDA_EMULATOR_GPU_BYTES, default 1 GiB
  int driver_version;        // CUDA_EMULATOR_DRIVER_VERSION, default 13000
  int links;                 // NVLinks of each: CUDA_EMULATOR_NVLINKS, default 4
  std::uint64_t crc_every;   // bytes sent per NVLink CRC error: CUDA_EMULATOR_NVLINK_CRC_EVERY
  bool fabric;               // memory has fabric handles: CUDA_EMULATOR_FABRIC, default 0
  bool mps;                  // processes share a device by MPS: CUDA_EMULATOR_MPS, default 0
  bool counts;               // NVLink's counters move: CUDA_EMULATOR_NVLINK_COUNTERS, default 1
  std::vector<int> visible;  // which of them CUDA calls 0, 1, …
};

const Machine& machine();

constexpr const char* DEVICE_NAME = "Emulated GPU";

// A PCI domain that no real device has, so that nobody takes a device of this machine for ours.
constexpr int PCI_DOMAIN = 0xe000;
constexpr int pci_bus(int device) { return 1 + device; }

/// As NVML writes it; CUDA's has four digits in the domain.
std::string pci_address(int device, int domain_digits);

Uuid uuid_of(int device);
std::string uuid_text(int device);

}  // namespace emulator
