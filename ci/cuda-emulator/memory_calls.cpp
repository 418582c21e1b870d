// cuMemAlloc and its relatives.

#include <algorithm>

#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/streams.hpp"

namespace emulator {
namespace {

Result allocate(Kind kind, DevicePointer* pointer, std::size_t bytes, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (pointer == nullptr) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  std::uintptr_t address = 0;
  const auto result = memory().allocate(kind, bytes, context, flags, address);
  if (result == SUCCESS) *pointer = address;
  return result;
}

Result allocate_pinned(void** pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr) return INVALID_VALUE;
  DevicePointer address = 0;
  const auto result = allocate(Kind::PINNED, &address, bytes, flags);
  if (result == SUCCESS) *pointer = reinterpret_cast<void*>(address);
  return result;
}

/// The pinned or registered memory at an address.
Allocation* host_memory(const void* pointer) {
  auto* found = memory().find(reinterpret_cast<std::uintptr_t>(pointer));
  const bool is_host =
      found != nullptr && (found->kind == Kind::PINNED || found->kind == Kind::REGISTERED);
  return is_host ? found : nullptr;
}

Result advise(DevicePointer pointer, std::size_t bytes, int advice, Device device) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto* found = memory().find(pointer);
  if (found == nullptr || found->kind != Kind::MANAGED) return INVALID_VALUE;
  if (bytes > found->end() - pointer) return INVALID_VALUE;
  if (advice == ADVISE_SET_PREFERRED_LOCATION) found->preferred = device;
  if (advice == ADVISE_UNSET_PREFERRED_LOCATION) found->preferred = NO_SUCH_DEVICE;
  return SUCCESS;
}

Device device_at(Location location) {
  return location.type == LOCATION_IS_DEVICE ? location.id : CPU_DEVICE;
}

}  // namespace

EMULATED(cuMemAlloc_v2, DevicePointer* pointer, std::size_t bytes) {
  return allocate(Kind::DEVICE, pointer, bytes, 0);
}

EMULATED(cuMemAllocManaged, DevicePointer* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned GLOBAL = 1;
  constexpr unsigned HOST = 2;
  if (flags != GLOBAL && flags != HOST) return INVALID_VALUE;
  return allocate(Kind::MANAGED, pointer, bytes, flags);
}

EMULATED(cuMemFree_v2, DevicePointer pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto result = INVALID_VALUE;
  for (const auto kind : {Kind::DEVICE, Kind::POOLED, Kind::MANAGED}) {
    if (result != SUCCESS) result = memory().free(pointer, kind);
  }
  return result;
}

// From the device's default pool, whose memory other processes cannot have.
EMULATED(cuMemAllocAsync, DevicePointer* pointer, std::size_t bytes, Stream* stream) {
  if (!is_stream(stream)) return INVALID_HANDLE;
  return allocate(Kind::POOLED, pointer, bytes, 0);
}

EMULATED(cuMemFreeAsync, DevicePointer pointer, Stream* stream) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (!is_stream(stream)) return INVALID_HANDLE;
  const std::lock_guard lock(driver_mutex());
  return memory().free(pointer, Kind::POOLED);
}

EMULATED(cuMemAllocHost_v2, void** pointer, std::size_t bytes) {
  return allocate_pinned(pointer, bytes, 0);
}

EMULATED(cuMemHostAlloc, void** pointer, std::size_t bytes, unsigned flags) {
  return allocate_pinned(pointer, bytes, flags);
}

EMULATED(cuMemFreeHost, void* pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return memory().free(reinterpret_cast<std::uintptr_t>(pointer), Kind::PINNED);
}

EMULATED(cuMemHostRegister_v2, void* pointer, std::size_t bytes, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return memory().register_host(reinterpret_cast<std::uintptr_t>(pointer), bytes, context, flags);
}
EMULATED_ENTRY(cuMemHostRegister, emulated_cuMemHostRegister_v2);

EMULATED(cuMemHostUnregister, void* pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto result = memory().free(address, Kind::REGISTERED);
  return result == SUCCESS ? result : HOST_MEMORY_NOT_REGISTERED;
}

EMULATED(cuMemHostGetDevicePointer_v2, DevicePointer* device, void* host, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (device == nullptr || flags != 0 || host_memory(host) == nullptr) return INVALID_VALUE;
  *device = reinterpret_cast<DevicePointer>(host);
  return SUCCESS;
}

EMULATED(cuMemHostGetFlags, unsigned* flags, void* host) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = host_memory(host);
  if (flags == nullptr || found == nullptr) return INVALID_VALUE;
  *flags = found->flags;
  return SUCCESS;
}

EMULATED(cuMemGetInfo_v2, std::size_t* free, std::size_t* total) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  *total = machine().bytes;
  *free = machine().bytes - memory().used(machine().visible[context->device]);
  return SUCCESS;
}

EMULATED(cuMemGetAddressRange_v2, DevicePointer* base, std::size_t* bytes, DevicePointer pointer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  if (found == nullptr || found->kind == Kind::REGISTERED) return NOT_FOUND;
  if (base != nullptr) *base = found->base;
  if (bytes != nullptr) *bytes = found->bytes;
  return SUCCESS;
}

EMULATED(cuMemAdvise, DevicePointer pointer, std::size_t bytes, int advice, Device device) {
  return advise(pointer, bytes, advice, device);
}

EMULATED(cuMemAdvise_v2, DevicePointer pointer, std::size_t bytes, int advice, Location location) {
  return advise(pointer, bytes, advice, device_at(location));
}

// Moving pages changes nothing that can be seen here, but only managed memory can be moved.
EMULATED(cuMemPrefetchAsync, DevicePointer pointer, std::size_t bytes, Device device, void*) {
  return advise(pointer, bytes, 0, device);
}

EMULATED(cuMemPrefetchAsync_v2, DevicePointer pointer, std::size_t bytes, Location location,
         unsigned, void*) {
  return advise(pointer, bytes, 0, device_at(location));
}

EMULATED(cuMemRangeGetAttribute, void* data, std::size_t data_bytes, int attribute,
         DevicePointer pointer, std::size_t bytes) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  if (found == nullptr || found->kind != Kind::MANAGED || bytes > found->end() - pointer ||
      attribute != RANGE_PREFERRED_LOCATION || data_bytes != sizeof(Device)) {
    return INVALID_VALUE;
  }
  *static_cast<Device*>(data) = found->preferred;
  return SUCCESS;
}

}  // namespace emulator
