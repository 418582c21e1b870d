// libnvidia-ml.so.1: what UCX, and programs that look at topology and link counters, ask of NVML.
// It sees every device, whatever CUDA_VISIBLE_DEVICES says.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "ci/cuda-emulator/link_counters.hpp"
#include "ci/cuda-emulator/machine.hpp"

namespace {

using emulator::machine;

enum Return : int {
  SUCCESS = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  INSUFFICIENT_SIZE = 7,
  DRIVER_NOT_LOADED = 9,
};

/// A handle: its address in this array says which device it is.
struct DeviceHandle {
} handles[emulator::MAX_DEVICES];

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct MemoryInfo {
  unsigned long long total, free, used;
};

struct FieldValue {
  unsigned field;
  unsigned scope;  // of NVLink fields: the link, or all of them
  long long timestamp;
  long long latency;
  int type;
  int result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long long as_unsigned_long_long;
  } value;
};
static_assert(sizeof(PciInfo) == 68 && sizeof(FieldValue) == 40);

constexpr unsigned FIELD_NVLINK_CRC_DATA_ERRORS = 45;
constexpr unsigned FIELD_LINK_COUNT = 91;
constexpr unsigned FIELD_NVLINK_SENT = 138;      // KiB of payload
constexpr unsigned FIELD_NVLINK_RECEIVED = 139;  // the same
constexpr unsigned FIELD_NVLINK_RAW_SENT = 140;
constexpr unsigned FIELD_NVLINK_RAW_RECEIVED = 141;
constexpr unsigned FIELD_PCIE_SENT = 197;      // bytes
constexpr unsigned FIELD_PCIE_RECEIVED = 198;  // the same
constexpr unsigned ALL_LINKS = ~0U;
constexpr int TYPE_UNSIGNED = 1;
constexpr int TYPE_UNSIGNED_LONG_LONG = 3;

int initialized = 0;

Return find(const DeviceHandle* handle, int& device) {
  if (initialized == 0) return UNINITIALIZED;
  device = static_cast<int>(handle - handles);
  return device >= 0 && device < machine().devices ? SUCCESS : INVALID_ARGUMENT;
}

Return pcie(const DeviceHandle* handle, unsigned value, unsigned* out) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  *out = value;
  return SUCCESS;
}

Return copy_text(const std::string& text, char* buffer, unsigned length) {
  if (buffer == nullptr) return INVALID_ARGUMENT;
  if (text.size() >= length) return INSUFFICIENT_SIZE;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return SUCCESS;
}

void fill(PciInfo& info, int device) {
  info = {};
  std::snprintf(info.bus_id_legacy, sizeof info.bus_id_legacy, "%s",
                emulator::pci_address(device, 4).c_str());
  std::snprintf(info.bus_id, sizeof info.bus_id, "%s", emulator::pci_address(device, 8).c_str());
  info.domain = emulator::PCI_DOMAIN;
  info.bus = static_cast<unsigned>(emulator::pci_bus(device));
}

/// What a link leads to: the other devices in turn, or, of an only device, a switch.
int remote_of(int device, unsigned link) {
  const int others = machine().devices - 1;
  if (others == 0) return emulator::MAX_DEVICES;
  return (device + 1 + static_cast<int>(link) % others) % machine().devices;
}

Return find_link(const DeviceHandle* handle, unsigned link, int& device) {
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  return link < static_cast<unsigned>(machine().links) ? SUCCESS : INVALID_ARGUMENT;
}

Return read_field(int device, FieldValue& field) {
  const auto& counters = emulator::link_counters()[device];
  const auto count = [&field](unsigned long long value) {
    field.type = TYPE_UNSIGNED_LONG_LONG;
    field.value.as_unsigned_long_long = value;
    return SUCCESS;
  };
  switch (field.field) {
    case FIELD_LINK_COUNT:
      field.type = TYPE_UNSIGNED;
      field.value.as_unsigned = static_cast<unsigned>(machine().links);
      return SUCCESS;
    case FIELD_NVLINK_CRC_DATA_ERRORS:
      if (machine().links == 0) return NOT_SUPPORTED;
      return count(machine().crc_every == 0 ? 0 : counters.nvlink_sent / machine().crc_every);
    case FIELD_NVLINK_SENT:
    case FIELD_NVLINK_RAW_SENT:
    case FIELD_NVLINK_RECEIVED:
    case FIELD_NVLINK_RAW_RECEIVED: {
      // Only the sum over the links is known.
      if (field.scope != ALL_LINKS || machine().links == 0) return NOT_SUPPORTED;
      const bool sent = field.field == FIELD_NVLINK_SENT || field.field == FIELD_NVLINK_RAW_SENT;
      if (!machine().counts) return count(0);
      return count((sent ? counters.nvlink_sent : counters.nvlink_received) / 1024);
    }
    case FIELD_PCIE_SENT:
      return count(counters.pcie_sent);
    case FIELD_PCIE_RECEIVED:
      return count(counters.pcie_received);
    default:
      return NOT_SUPPORTED;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Return nvmlInit_v2() {
  if (machine().devices == 0) return DRIVER_NOT_LOADED;
  ++initialized;
  return SUCCESS;
}
Return nvmlInit() { return nvmlInit_v2(); }
Return nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }

Return nvmlShutdown() {
  if (initialized == 0) return UNINITIALIZED;
  --initialized;
  return SUCCESS;
}

const char* nvmlErrorString(Return result) {
  switch (result) {
    case SUCCESS:
      return "Success";
    case UNINITIALIZED:
      return "Uninitialized";
    case INVALID_ARGUMENT:
      return "Invalid Argument";
    case NOT_SUPPORTED:
      return "Not Supported";
    case NOT_FOUND:
      return "Not Found";
    case INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
  }
  return "Unknown Error";
}

Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return initialized == 0 ? UNINITIALIZED : copy_text("emulated", version, length);
}

Return nvmlSystemGetCudaDriverVersion(int* version) {
  *version = machine().driver_version;
  return SUCCESS;
}
Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  if (initialized == 0) return UNINITIALIZED;
  *count = static_cast<unsigned>(machine().devices);
  return SUCCESS;
}
Return nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle** handle) {
  if (initialized == 0) return UNINITIALIZED;
  if (index >= static_cast<unsigned>(machine().devices)) return INVALID_ARGUMENT;
  *handle = &handles[index];
  return SUCCESS;
}
Return nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle** handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle** handle) {
  if (initialized == 0) return UNINITIALIZED;
  for (int device = 0; device < machine().devices; ++device) {
    if (emulator::uuid_text(device) != uuid) continue;
    *handle = &handles[device];
    return SUCCESS;
  }
  return NOT_FOUND;
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* address, DeviceHandle** handle) {
  if (initialized == 0) return UNINITIALIZED;
  for (int device = 0; device < machine().devices; ++device) {
    if (emulator::pci_address(device, 4) != address &&
        emulator::pci_address(device, 8) != address) {
      continue;
    }
    *handle = &handles[device];
    return SUCCESS;
  }
  return NOT_FOUND;
}

Return nvmlDeviceGetIndex(DeviceHandle* handle, unsigned* index) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  *index = static_cast<unsigned>(device);
  return SUCCESS;
}

Return nvmlDeviceGetName(DeviceHandle* handle, char* name, unsigned length) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  return copy_text(emulator::DEVICE_NAME, name, length);
}

Return nvmlDeviceGetUUID(DeviceHandle* handle, char* uuid, unsigned length) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  return copy_text(emulator::uuid_text(device), uuid, length);
}

Return nvmlDeviceGetPciInfo_v3(DeviceHandle* handle, PciInfo* info) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  fill(*info, device);
  return SUCCESS;
}

Return nvmlDeviceGetCudaComputeCapability(DeviceHandle* handle, int* major, int* minor) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  *major = 9;
  *minor = 0;
  return SUCCESS;
}

// Every device is as near to one processor as to another.
Return nvmlDeviceGetCpuAffinity(DeviceHandle* handle, unsigned words, unsigned long* mask) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  const auto processors = static_cast<unsigned long>(sysconf(_SC_NPROCESSORS_CONF));
  constexpr auto BITS = 8 * sizeof(unsigned long);
  std::fill_n(mask, words, 0);
  for (unsigned long cpu = 0; cpu < std::min(processors, words * BITS); ++cpu) {
    mask[cpu / BITS] |= 1UL << (cpu % BITS);
  }
  return SUCCESS;
}

// PCIe gen4 x16, of which the generation is lowered to save power.
Return nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle* handle, unsigned* generation) {
  return pcie(handle, 4, generation);
}
Return nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle* handle, unsigned* generation) {
  return pcie(handle, 1, generation);
}
Return nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle* handle, unsigned* lanes) {
  return pcie(handle, 16, lanes);
}
Return nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle* handle, unsigned* lanes) {
  return pcie(handle, 16, lanes);
}

Return nvmlDeviceGetTopologyCommonAncestor(DeviceHandle* first, DeviceHandle* second, int* level) {
  int device = 0;
  if (const auto result = find(first, device); result != SUCCESS) return result;
  if (const auto result = find(second, device); result != SUCCESS) return result;
  constexpr int HOST_BRIDGE = 30;
  *level = HOST_BRIDGE;
  return SUCCESS;
}

// Of the whole machine, whereas only processes know what they have allocated.
Return nvmlDeviceGetMemoryInfo(DeviceHandle* handle, MemoryInfo* info) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  *info = {.total = machine().bytes, .free = machine().bytes, .used = 0};
  return SUCCESS;
}

Return nvmlDeviceGetFieldValues(DeviceHandle* handle, int count, FieldValue* fields) {
  int device = 0;
  if (const auto result = find(handle, device); result != SUCCESS) return result;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (int index = 0; index < count; ++index) {
    auto& field = fields[index];
    field.timestamp = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    field.latency = 0;
    field.result = read_field(device, field);
  }
  return SUCCESS;
}

Return nvmlDeviceGetNvLinkState(DeviceHandle* handle, unsigned link, int* active) {
  int device = 0;
  if (const auto result = find_link(handle, link, device); result != SUCCESS) return result;
  *active = 1;
  return SUCCESS;
}

Return nvmlDeviceGetNvLinkVersion(DeviceHandle* handle, unsigned link, unsigned* version) {
  int device = 0;
  if (const auto result = find_link(handle, link, device); result != SUCCESS) return result;
  *version = 4;
  return SUCCESS;
}

Return nvmlDeviceGetNvLinkCapability(DeviceHandle* handle, unsigned link, int capability,
                                     unsigned* value) {
  int device = 0;
  if (const auto result = find_link(handle, link, device); result != SUCCESS) return result;
  constexpr int PEER_TO_PEER = 0;
  *value = capability == PEER_TO_PEER ? 1 : 0;
  return SUCCESS;
}

Return nvmlDeviceGetNvLinkRemotePciInfo_v2(DeviceHandle* handle, unsigned link, PciInfo* info) {
  int device = 0;
  if (const auto result = find_link(handle, link, device); result != SUCCESS) return result;
  fill(*info, remote_of(device, link));
  return SUCCESS;
}

Return nvmlDeviceGetNvLinkRemoteDeviceType(DeviceHandle* handle, unsigned link, int* type) {
  int device = 0;
  if (const auto result = find_link(handle, link, device); result != SUCCESS) return result;
  constexpr int GPU = 0;
  constexpr int SWITCH = 2;
  *type = remote_of(device, link) == emulator::MAX_DEVICES ? SWITCH : GPU;
  return SUCCESS;
}

// UCX refuses all of NVML where it finds neither of these.
Return nvmlDeviceGetGpuFabricInfo(DeviceHandle*, void*) { return NOT_SUPPORTED; }
Return nvmlDeviceGetGpuFabricInfoV(DeviceHandle*, void*) { return NOT_SUPPORTED; }

}  // extern "C"
#pragma GCC visibility pop
