// cuPointerGetAttribute and its relatives: how UCX tells GPU memory from host memory.

#include <algorithm>

#include "ci/cuda-emulator/memory.hpp"

namespace emulator {
namespace {

template <typename Value>
Result store(void* data, Value value) {
  *static_cast<Value*>(data) = value;
  return SUCCESS;
}

/// What CUDA in this process calls the device that the memory is on.
Device ordinal(const Allocation& allocation) {
  const auto& visible = machine().visible;
  const auto found = std::find(visible.begin(), visible.end(), allocation.physical);
  // A peer's device may be hidden from us by CUDA_VISIBLE_DEVICES.
  if (found == visible.end()) return allocation.context->device;
  return static_cast<Device>(found - visible.begin());
}

Result store_attribute(void* data, int attribute, const Allocation& allocation,
                       DevicePointer pointer) {
  const bool is_host = allocation.kind == Kind::PINNED || allocation.kind == Kind::REGISTERED;
  switch (attribute) {
    case CONTEXT:
      // Neither a pool's nor mapped memory belongs to one.
      return store(data, allocation.kind == Kind::POOLED || allocation.kind == Kind::MAPPED
                             ? nullptr
                             : allocation.context);
    case MEMORY_TYPE:
      return store(data, is_host ? HOST_MEMORY : DEVICE_MEMORY);
    case DEVICE_POINTER:
      return store(data, pointer);
    case HOST_POINTER:
      if (allocation.on_device()) return INVALID_VALUE;
      return store(data, pointer);
    case SYNC_MEMOPS:
      return store(data, 1);
    case BUFFER_ID:
    case MEMORY_BLOCK_ID:
      return store<unsigned long long>(data, allocation.id);
    case IS_MANAGED:
      return store(data, allocation.kind == Kind::MANAGED ? 1 : 0);
    case DEVICE_ORDINAL:
      return store(data, ordinal(allocation));
    case IS_LEGACY_IPC_CAPABLE:
      return store(data, allocation.kind == Kind::DEVICE ? 1 : 0);
    case RANGE_START:
    case MAPPING_BASE:
      return store<DevicePointer>(data, allocation.base);
    case RANGE_SIZE:
    case MAPPING_SIZE:
      return store<std::size_t>(data, allocation.bytes);
    case MAPPED:
      return store(data, 1);
    case ALLOWED_HANDLE_TYPES:
      return store<unsigned long long>(
          data, allocation.mapped != nullptr ? allocation.mapped->properties.handle_types : 0);
    case IS_GPU_DIRECT_RDMA_CAPABLE:
      return store(data, 0);
    case ACCESS_FLAGS:
      return store(data, 3);
    case MEMPOOL_HANDLE:
      // A device's default pool: nobody asks more of it than that it is there.
      return store<const void*>(data, allocation.kind == Kind::POOLED ? &machine() : nullptr);
    default:
      return NOT_SUPPORTED;
  }
}

/// What is said of a pointer that CUDA does not know.
void store_unknown(void* data, int attribute) {
  switch (attribute) {
    case DEVICE_ORDINAL:
      store(data, NO_SUCH_DEVICE);
      break;
    case MEMORY_TYPE:
    case SYNC_MEMOPS:
    case IS_MANAGED:
    case IS_LEGACY_IPC_CAPABLE:
    case MAPPED:
    case IS_GPU_DIRECT_RDMA_CAPABLE:
    case ACCESS_FLAGS:
      store(data, 0);
      break;
    default:
      store<unsigned long long>(data, 0);
  }
}

}  // namespace

EMULATED(cuPointerGetAttribute, void* data, int attribute, DevicePointer pointer) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  if (data == nullptr || found == nullptr) return INVALID_VALUE;
  return store_attribute(data, attribute, *found, pointer);
}

// Unlike its sibling, it succeeds on ordinary host memory.
EMULATED(cuPointerGetAttributes, unsigned count, int* attributes, void** data,
         DevicePointer pointer) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  for (unsigned index = 0; index < count; ++index) {
    if (found == nullptr) {
      store_unknown(data[index], attributes[index]);
      continue;
    }
    const auto result = store_attribute(data[index], attributes[index], *found, pointer);
    if (result == INVALID_VALUE) {
      store_unknown(data[index], attributes[index]);
    } else if (result != SUCCESS) {
      return result;
    }
  }
  return SUCCESS;
}

EMULATED(cuPointerSetAttribute, const void* value, int attribute, DevicePointer pointer) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  const auto* found = memory().find(pointer);
  const bool known = found != nullptr && found->mapped == nullptr;
  return value != nullptr && attribute == SYNC_MEMOPS && known ? SUCCESS : INVALID_VALUE;
}

}  // namespace emulator
