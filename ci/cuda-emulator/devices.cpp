// cuDevice… and the driver's version.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/machine.hpp"

namespace emulator {
namespace {

int physical(Device device) { return machine().visible[device]; }

int attribute_of(Device device, int attribute) {
  switch (attribute) {
    case MAX_THREADS_PER_BLOCK:
    case MAX_BLOCK_DIM_X:
    case MAX_BLOCK_DIM_Y:
      return 1024;
    case MAX_BLOCK_DIM_Z:
      return 64;
    case MAX_GRID_DIM_X:
      return 2147483647;
    case MAX_GRID_DIM_Y:
    case MAX_GRID_DIM_Z:
      return 65535;
    case WARP_SIZE:
      return 32;
    case CLOCK_RATE:
      return 1000000;
    case MULTIPROCESSOR_COUNT:
    case ASYNC_ENGINE_COUNT:
      return 2;
    case PCI_BUS_ID:
      return pci_bus(physical(device));
    case PCI_DOMAIN_ID:
      return PCI_DOMAIN;
    case COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CAN_MAP_HOST_MEMORY:
    case UNIFIED_ADDRESSING:
    case MANAGED_MEMORY:
    case CONCURRENT_MANAGED_ACCESS:
    case CAN_USE_HOST_POINTER_FOR_REGISTERED_MEMORY:
    case HOST_REGISTER_SUPPORTED:
    case VIRTUAL_MEMORY_SUPPORTED:
    case MEMORY_POOLS_SUPPORTED:
      return 1;
    case FABRIC_HANDLES_SUPPORTED:
      return machine().fabric ? 1 : 0;
    case MPS_ENABLED:
      return machine().mps ? 1 : 0;
    default:
      // Also: no DMA buffers or GPUDirect RDMA.
      return 0;
  }
}

Result copy_text(const std::string& text, char* buffer, int length) {
  if (buffer == nullptr || length <= 0) return INVALID_VALUE;
  std::snprintf(buffer, static_cast<std::size_t>(length), "%s", text.c_str());
  return SUCCESS;
}

}  // namespace

// Answers before cuInit too, as the driver does.
EMULATED(cuDriverGetVersion, int* version) {
  if (version == nullptr) return INVALID_VALUE;
  *version = machine().driver_version;
  return SUCCESS;
}

EMULATED(cuDeviceGetCount, int* count) {
  if (const auto result = ready(); result != SUCCESS) return result;
  *count = static_cast<int>(machine().visible.size());
  return SUCCESS;
}

EMULATED(cuDeviceGet, Device* device, int ordinal) {
  if (const auto result = ready_for(ordinal); result != SUCCESS) return result;
  *device = ordinal;
  return SUCCESS;
}

EMULATED(cuDeviceGetName, char* name, int length, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  return copy_text(DEVICE_NAME, name, length);
}

EMULATED(cuDeviceGetUuid_v2, Uuid* uuid, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  *uuid = uuid_of(physical(device));
  return SUCCESS;
}
EMULATED_ENTRY(cuDeviceGetUuid, emulated_cuDeviceGetUuid_v2);

EMULATED(cuDeviceTotalMem_v2, std::size_t* bytes, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  *bytes = machine().bytes;
  return SUCCESS;
}

EMULATED(cuDeviceGetAttribute, int* value, int attribute, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  if (value == nullptr || attribute <= 0) return INVALID_VALUE;
  *value = attribute_of(device, attribute);
  return SUCCESS;
}

EMULATED(cuDeviceGetPCIBusId, char* address, int length, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  return copy_text(pci_address(physical(device), 4), address, length);
}

EMULATED(cuDeviceGetByPCIBusId, Device* device, const char* address) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const auto count = static_cast<Device>(machine().visible.size());
  for (Device candidate = 0; candidate < count; ++candidate) {
    if (pci_address(physical(candidate), 4) == address) {
      *device = candidate;
      return SUCCESS;
    }
  }
  return INVALID_DEVICE;
}

EMULATED(cuDeviceGetP2PAttribute, int* value, int attribute, Device source, Device target) {
  if (const auto result = ready_for(source); result != SUCCESS) return result;
  if (const auto result = ready_for(target); result != SUCCESS) return result;
  constexpr int ACCESS_SUPPORTED = 2;
  if (source == target) return INVALID_DEVICE;
  *value = attribute == ACCESS_SUPPORTED ? 1 : 0;
  return SUCCESS;
}

}  // namespace emulator
