#include "harness/topology/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "harness/core/library.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {
namespace {

using Device = void*;

// Names, values and layout of nvml.h (NVML API reference).
struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;
};
static_assert(sizeof(PciInfo) == 68);

struct FabricInfo {
  std::array<unsigned char, 16> cluster;
  int status;
  unsigned clique;
  unsigned char state;
};
static_assert(sizeof(FabricInfo) == 28);

/// nvmlFieldValue_t.
struct Field {
  unsigned field;
  unsigned scope;  // a link's number, or all_links
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;  // 0: there is a value
  union {
    unsigned long long value;
    double number;
  };
};
static_assert(sizeof(Field) == 40);

constexpr unsigned char fabric_complete = 3;
constexpr int remote_gpu = 0;
constexpr int remote_switch = 2;
constexpr int remote_unknown = 0xff;
constexpr unsigned most_links = 18;
constexpr unsigned field_c2c_links = 170;
constexpr unsigned field_c2c_link_is_up = 171;
constexpr unsigned field_c2c_link_MBps = 172;
constexpr unsigned field_nvlink_KiB_sent = 138;
constexpr std::array<std::pair<unsigned, const char*>, 4> field_nvlink_errors = {
    {{38, "crc_flit_error"}, {45, "crc_data_error"}, {52, "replay_error"}, {59, "recovery_error"}}};
constexpr unsigned all_links = ~0U;
constexpr unsigned most_c2c_links = 64;
constexpr std::size_t mask_bits = sizeof(unsigned long) * CHAR_BIT;

std::string pci_of(const PciInfo& info) { return normal_pci(info.bus_id.data()); }

/// A function of the library, or none: drivers differ in what they have.
template <typename... Arguments>
class Call {
 public:
  Call(void* library, const char* name) {
    if (library != nullptr) find_function(library, name, function_);
  }

  bool operator()(Arguments... arguments) const {
    return function_ != nullptr && function_(arguments...) == 0;
  }

 private:
  int (*function_)(Arguments...) = nullptr;
};

class Nvml {
 public:
  explicit Nvml(void* library)
      : init_(library, "nvmlInit_v2"),
        shutdown_(library, "nvmlShutdown"),
        count_(library, "nvmlDeviceGetCount_v2"),
        handle_(library, "nvmlDeviceGetHandleByIndex_v2"),
        name_(library, "nvmlDeviceGetName"),
        pci_(library, "nvmlDeviceGetPciInfo_v3"),
        capability_(library, "nvmlDeviceGetCudaComputeCapability"),
        affinity_(library, "nvmlDeviceGetCpuAffinity"),
        generation_most_(library, "nvmlDeviceGetMaxPcieLinkGeneration"),
        generation_now_(library, "nvmlDeviceGetCurrPcieLinkGeneration"),
        lanes_most_(library, "nvmlDeviceGetMaxPcieLinkWidth"),
        lanes_now_(library, "nvmlDeviceGetCurrPcieLinkWidth"),
        link_state_(library, "nvmlDeviceGetNvLinkState"),
        link_pci_(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2"),
        link_type_(library, "nvmlDeviceGetNvLinkRemoteDeviceType"),
        common_ancestor_(library, "nvmlDeviceGetTopologyCommonAncestor"),
        fabric_(library, "nvmlDeviceGetGpuFabricInfo"),
        fields_(library, "nvmlDeviceGetFieldValues") {}

  std::vector<NvmlGpu> gpus() const {
    std::vector<NvmlGpu> found;
    if (!init_()) return found;
    const auto devices = this->devices();
    for (std::size_t index = 0; index < devices.size(); ++index) {
      if (devices[index] == nullptr) continue;
      found.push_back(gpu(devices[index]));
      found.back().index = static_cast<int>(index);
      for (auto* other : devices) found.back().levels.push_back(level(devices[index], other));
    }
    shutdown_();
    return found;
  }

  std::map<std::string, std::uint64_t> of_nvlinks(unsigned which) const {
    static const bool started = init_();
    std::map<std::string, std::uint64_t> values;
    if (!started) return values;
    const auto devices = this->devices();
    for (std::size_t index = 0; index < devices.size(); ++index) {
      const auto value = field(devices[index], which, all_links);
      if (value) values[fmt::format("GPU{}", index)] = *value;
    }
    return values;
  }

 private:
  /// Null for one that fell off the bus, which keeps its number.
  std::vector<Device> devices() const {
    unsigned count = 0;
    if (!count_(&count)) count = 0;
    std::vector<Device> devices(count, nullptr);
    for (unsigned index = 0; index < count; ++index) {
      if (!handle_(index, &devices[index])) devices[index] = nullptr;
    }
    return devices;
  }

  NvmlGpu gpu(Device device) const {
    NvmlGpu gpu;
    std::array<char, 96> name{};
    if (name_(device, name.data(), name.size())) gpu.name = name.data();
    PciInfo pci{};
    if (pci_(device, &pci)) gpu.pci = pci_of(pci);
    int major = 0;
    int minor = 0;
    if (capability_(device, &major, &minor)) gpu.compute_capability = 10 * major + minor;
    gpu.cpus = cpus(device);
    gpu.pcie_most = pcie(device, generation_most_, lanes_most_);
    gpu.pcie_now = pcie(device, generation_now_, lanes_now_);
    gpu.c2c_GBps = c2c(device);
    gpu.fabric = fabric(device);
    for (unsigned number = 0; number < most_links; ++number) {
      int active = 0;
      if (link_state_(device, number, &active) && active == 1) {
        gpu.links.push_back(link(device, number));
      }
    }
    return gpu;
  }

  std::optional<std::vector<int>> cpus(Device device) const {
    std::array<unsigned long, 64> mask{};
    if (!affinity_(device, mask.size(), mask.data())) return std::nullopt;
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < mask.size() * mask_bits; ++cpu) {
      if ((mask[cpu / mask_bits] >> cpu % mask_bits & 1U) != 0) {
        cpus.push_back(static_cast<int>(cpu));
      }
    }
    return cpus.empty() ? std::nullopt : std::optional(cpus);
  }

  static std::optional<NvmlPcie> pcie(Device device, const Call<Device, unsigned*>& generation,
                                      const Call<Device, unsigned*>& lanes) {
    unsigned number = 0;
    unsigned width = 0;
    if (!generation(device, &number) || !lanes(device, &width)) return std::nullopt;
    return NvmlPcie{static_cast<int>(number), static_cast<int>(width)};
  }

  /// Drivers before 525 have no such fields.
  std::optional<unsigned long long> field(Device device, unsigned which, unsigned link) const {
    if (device == nullptr) return std::nullopt;
    Field field{};
    field.field = which;
    field.scope = link;
    if (!fields_(device, 1, &field) || field.result != 0) return std::nullopt;
    constexpr int type_unsigned = 1;  // the upper half is not the driver's
    return field.value_type == type_unsigned ? static_cast<unsigned>(field.value) : field.value;
  }

  std::optional<double> c2c(Device device) const {
    const auto count =
        std::min<unsigned long long>(field(device, field_c2c_links, 0).value_or(0), most_c2c_links);
    double megabytes_per_s = 0;
    for (unsigned number = 0; number < count; ++number) {
      if (field(device, field_c2c_link_is_up, number) != 1U) continue;
      megabytes_per_s +=
          static_cast<double>(field(device, field_c2c_link_MBps, number).value_or(0));
    }
    return megabytes_per_s > 0 ? std::optional(megabytes_per_s / 1000) : std::nullopt;
  }

  /// The switches of one host alone are a fabric without a cluster.
  std::string fabric(Device device) const {
    FabricInfo info{};
    const bool known = fabric_(device, &info) && info.status == 0 && info.state == fabric_complete;
    if (!known || info.cluster == decltype(info.cluster){}) return "";
    return fmt::format("{:02x}/{}", fmt::join(info.cluster, ""), info.clique);
  }

  NvmlLink link(Device device, unsigned number) const {
    NvmlLink link;
    PciInfo pci{};
    if (link_pci_(device, number, &pci)) link.pci = pci_of(pci);
    // Virtual machines show a switch as "ffffffff:ff:ff.f", or nothing.
    if (link.pci.find(":ff:ff.") != std::string::npos) link.pci.clear();
    int type = remote_unknown;
    // Missing in drivers before 460.
    if (!link_type_(device, number, &type)) type = remote_unknown;
    switch (type) {
      case remote_gpu:
        link.remote = NvmlLink::Remote::gpu;
        break;
      case remote_switch:
        link.remote = NvmlLink::Remote::nvswitch;
        break;
      case remote_unknown:
        break;
      default:
        link.remote = NvmlLink::Remote::other;
    }
    return link;
  }

  int level(Device device, Device other) const {
    int level = -1;
    const bool known =
        other != nullptr && other != device && common_ancestor_(device, other, &level);
    return known ? level : -1;
  }

  Call<> init_;
  Call<> shutdown_;
  Call<unsigned*> count_;
  Call<unsigned, Device*> handle_;
  Call<Device, char*, unsigned> name_;
  Call<Device, PciInfo*> pci_;
  Call<Device, int*, int*> capability_;
  Call<Device, unsigned, unsigned long*> affinity_;
  Call<Device, unsigned*> generation_most_;
  Call<Device, unsigned*> generation_now_;
  Call<Device, unsigned*> lanes_most_;
  Call<Device, unsigned*> lanes_now_;
  Call<Device, unsigned, int*> link_state_;
  Call<Device, unsigned, PciInfo*> link_pci_;
  Call<Device, unsigned, int*> link_type_;
  Call<Device, Device, int*> common_ancestor_;
  Call<Device, FabricInfo*> fabric_;
  Call<Device, int, Field*> fields_;
};

const Nvml& nvml() {
  static const Nvml loaded(::dlopen("libnvidia-ml.so.1", RTLD_NOW));
  return loaded;
}

}  // namespace

std::vector<NvmlGpu> nvml_gpus() { return nvml().gpus(); }

std::map<std::string, std::uint64_t> nvlink_transmitted() {
  auto bytes = nvml().of_nvlinks(field_nvlink_KiB_sent);
  for (auto& [gpu, value] : bytes) value *= 1024;
  return bytes;
}

std::map<std::string, std::uint64_t> nvlink_errors() {
  std::map<std::string, std::uint64_t> errors;
  for (const auto& [field, name] : field_nvlink_errors) {
    for (const auto& [gpu, value] : nvml().of_nvlinks(field)) errors[gpu + "/" + name] = value;
  }
  return errors;
}

}  // namespace ucxbench
