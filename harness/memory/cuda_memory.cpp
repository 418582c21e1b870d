// The driver's ways to give memory.

#include <fmt/format.h>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {
namespace {

// Values of cuda.h.
constexpr unsigned mem_attach_global = 1;    // CU_MEM_ATTACH_GLOBAL
constexpr unsigned host_alloc_portable = 1;  // CU_MEMHOSTALLOC_PORTABLE
constexpr int pinned_allocation = 1;         // CU_MEM_ALLOCATION_TYPE_PINNED
constexpr int on_device = 1;                 // CU_MEM_LOCATION_TYPE_DEVICE
constexpr int file_descriptor = 1;           // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int fabric_handle = 8;             // CU_MEM_HANDLE_TYPE_FABRIC
constexpr int minimum_granularity = 0;       // CU_MEM_ALLOC_GRANULARITY_MINIMUM
constexpr int read_and_write = 3;            // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
constexpr int advise_read_mostly = 1;        // CU_MEM_ADVISE_SET_READ_MOSTLY
constexpr int advise_preferred = 3;          // CU_MEM_ADVISE_SET_PREFERRED_LOCATION
constexpr int advise_accessed_by = 5;        // CU_MEM_ADVISE_SET_ACCESSED_BY
constexpr int host_device = -1;              // CU_DEVICE_CPU
// CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
constexpr int gpu_direct_rdma_of_mapped = 110;

std::string call_of(const char* name, std::size_t bytes) {
  return fmt::format("{} of {}", name, spaced_size(bytes));
}

}  // namespace

CudaDriver::Device CudaDriver::current_device() const {
  Device device = 0;
  check(current_device_(&device), "cuCtxGetDevice");
  return device;
}

std::byte* CudaDriver::allocate(std::size_t bytes, MemoryWay way) const {
  if (way == MemoryWay::async) return allocate_from_pool(bytes);
  if (way == MemoryWay::vmm || way == MemoryWay::fabric) return allocate_mapped(bytes, way);
  Pointer pointer = 0;
  check(allocate_(&pointer, bytes), call_of("cuMemAlloc", bytes).c_str());
  return reinterpret_cast<std::byte*>(pointer);
}

std::byte* CudaDriver::allocate_from_pool(std::size_t bytes) const {
  Pointer pointer = 0;
  check(allocate_async_(&pointer, bytes, nullptr), call_of("cuMemAllocAsync", bytes).c_str());
  check(synchronize_(), "cuCtxSynchronize");
  return reinterpret_cast<std::byte*>(pointer);
}

CudaDriver::Properties CudaDriver::properties_of(Device device, MemoryWay way) const {
  int gpu_direct_rdma = 0;
  device_attribute_(&gpu_direct_rdma, gpu_direct_rdma_of_mapped, device);
  return {.type = pinned_allocation,
          .handle_types = way == MemoryWay::fabric ? fabric_handle : file_descriptor,
          .location = {on_device, device},
          .windows = nullptr,
          .compression = 0,
          .gpu_direct_rdma = static_cast<unsigned char>(gpu_direct_rdma),
          .usage = 0,
          .reserved = {}};
}

std::byte* CudaDriver::allocate_mapped(std::size_t bytes, MemoryWay way) const {
  const auto device = current_device();
  const auto properties = properties_of(device, way);
  std::size_t unit = 0;
  check(granularity_(&unit, &properties, minimum_granularity), "cuMemGetAllocationGranularity");
  const auto whole = (bytes + unit - 1) / unit * unit;
  std::uint64_t handle = 0;
  try {
    check(create_(&handle, whole, &properties, 0), call_of("cuMemCreate", whole).c_str());
  } catch (const Failure& failure) {
    if (way != MemoryWay::fabric) throw;
    throw Failure(failure.exit(),
                  fmt::format("{}: a fabric handle needs a GPU and a driver that have them, and "
                              "an IMEX channel (/dev/nvidia-caps-imex-channels)",
                              failure.what()));
  }
  std::byte* pointer = nullptr;
  try {
    pointer = map(handle, whole, device);
  } catch (const Failure&) {
    release_(handle);
    throw;
  }
  // The mapping keeps it.
  check(release_(handle), "cuMemRelease");
  return pointer;
}

std::byte* CudaDriver::map(std::uint64_t handle, std::size_t bytes, Device device) const {
  Pointer pointer = 0;
  check(reserve_(&pointer, bytes, 0, 0, 0), call_of("cuMemAddressReserve", bytes).c_str());
  if (const auto mapped = map_(pointer, bytes, 0, handle, 0); mapped != 0) {
    give_back_(pointer, bytes);
    check(mapped, "cuMemMap");
  }
  const Access access{.location = {on_device, device}, .flags = read_and_write};
  if (const auto set = set_access_(pointer, bytes, &access, 1); set != 0) {
    unmap_(pointer, bytes);
    give_back_(pointer, bytes);
    check(set, "cuMemSetAccess");
  }
  return reinterpret_cast<std::byte*>(pointer);
}

std::byte* CudaDriver::allocate_managed(std::size_t bytes, MemoryWay way) const {
  Pointer pointer = 0;
  check(allocate_managed_(&pointer, bytes, mem_attach_global),
        call_of("cuMemAllocManaged", bytes).c_str());
  auto* data = reinterpret_cast<std::byte*>(pointer);
  try {
    advise(data, bytes, way);
  } catch (const Failure&) {
    free_(pointer);
    throw;
  }
  return data;
}

void CudaDriver::advise(std::byte* pointer, std::size_t bytes, MemoryWay way) const {
  if (way == MemoryWay::plain) return;
  const auto device = current_device();
  const auto hint = [&](int advice, Device about) {
    check(advise_(address(pointer), bytes, advice, about), "cuMemAdvise");
  };
  if (way == MemoryWay::read_mostly) return hint(advise_read_mostly, device);
  const auto at = way == MemoryWay::prefer_gpu ? device : host_device;
  hint(advise_preferred, at);
  hint(advise_accessed_by, device);
  check(prefetch_(address(pointer), bytes, at, nullptr), "cuMemPrefetchAsync");
  check(synchronize_(), "cuCtxSynchronize");
}

void CudaDriver::release(std::byte* pointer, std::size_t bytes, MemoryWay way) const noexcept {
  if (way != MemoryWay::vmm && way != MemoryWay::fabric) {
    free_(address(pointer));  // of a pool too
    return;
  }
  Device device = 0;
  current_device_(&device);
  const auto properties = properties_of(device, way);
  std::size_t unit = 0;
  if (granularity_(&unit, &properties, minimum_granularity) != 0) return;
  const auto whole = (bytes + unit - 1) / unit * unit;
  synchronize_();
  unmap_(address(pointer), whole);
  give_back_(address(pointer), whole);
}

std::byte* CudaDriver::allocate_pinned(std::size_t bytes) const {
  void* pointer = nullptr;
  check(allocate_pinned_(&pointer, bytes, host_alloc_portable),
        call_of("cuMemHostAlloc", bytes).c_str());
  return static_cast<std::byte*>(pointer);
}

void CudaDriver::release_pinned(std::byte* pointer) const noexcept { free_pinned_(pointer); }

}  // namespace ucxbench
