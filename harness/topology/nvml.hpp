#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

/// One active NVLink of a GPU.
struct NvmlLink {
  enum class Remote { gpu, nvswitch, other, unknown } remote = Remote::unknown;
  std::string pci;  ///< of the other end; empty where a virtual machine hides it
};

/// PCIe as NVML sees it: the generation (1 to 6) and the lanes.
struct NvmlPcie {
  int generation = 0;
  int lanes = 0;
};

struct NvmlGpu {
  int index = 0;
  std::string name;
  std::string pci;                        ///< "0000:3b:00.0"
  std::optional<int> compute_capability;  ///< 86 for 8.6
  std::optional<std::vector<int>> cpus;   ///< nearest to it
  std::optional<NvmlPcie> pcie_most;      ///< that the GPU and the slot can do
  std::optional<NvmlPcie> pcie_now;
  std::optional<double> c2c_GBps;  ///< NVLink-C2C to its processor, one way; of links that are up
  /// "CLUSTER/CLIQUE" of GPUs of several hosts that NVLinks join (GB200 NVL72); empty elsewhere.
  std::string fabric;
  std::vector<NvmlLink> links;
  std::vector<int> levels;  ///< to the GPU of each index: nvmlGpuTopologyLevel_t, -1 unknown
};

/// Every GPU of this host that the driver has, whatever CUDA_VISIBLE_DEVICES says; none without
/// NVML (libnvidia-ml.so.1). What a driver is too old to tell, or a virtual machine hides, is
/// empty.
std::vector<NvmlGpu> nvml_gpus();

// Summed over the NVLinks of each GPU of this host since the driver started. Empty without NVML or
// NVLinks, or where the driver does not tell. The first call starts NVML for the whole process.

/// Bytes sent, by "GPU0".
std::map<std::string, std::uint64_t> nvlink_transmitted();
/// By "GPU0/crc_data_error": crc_flit_error, crc_data_error, replay_error, recovery_error.
std::map<std::string, std::uint64_t> nvlink_errors();

}  // namespace ucxbench
