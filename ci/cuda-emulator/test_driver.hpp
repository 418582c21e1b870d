#pragma once

// What the tests of the emulated driver share: it is loaded as programs load the real one, in a
// process of its own for each test, since it reads its environment once and cannot be unloaded.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "ci/cuda-emulator/driver.hpp"

namespace emulator::test {

constexpr std::size_t MIB = 1 << 20;

using Environment = std::map<std::string, std::string>;

/// Runs `body` in a process with this environment; its wait status, which is 0 if nothing failed.
int status_of(const Environment& environment, const std::function<void()>& body);

inline void in_process(const Environment& environment, const std::function<void()>& body) {
  EXPECT_EQ(0, status_of(environment, body));
}

/// Converts to whatever function it is called as.
struct Symbol {
  void* address;

  template <typename Function>
  operator Function*() const {  // NOLINT: shall convert
    return reinterpret_cast<Function*>(address);
  }
};

/// Opens one of the emulator's libraries.
void* open_library(const std::string& name);
Symbol symbol(void* library, const char* name);

using Handle = void*;  // of a context, stream or event

struct IpcHandle {
  char bytes[64];
};

/// The driver with device 0's primary context current, unless told otherwise.
struct Driver {
  explicit Driver(bool with_context = true);

  void* library = open_library("libcuda.so.1");
  Symbol find(const char* name) const { return symbol(library, name); }

  Result (*init)(unsigned) = find("cuInit");
  Result (*version)(int*) = find("cuDriverGetVersion");
  Result (*look_up)(const char*, void**, int, std::uint64_t, int*) = find("cuGetProcAddress_v2");
  Result (*error_name)(int, const char**) = find("cuGetErrorName");

  Result (*device_count)(int*) = find("cuDeviceGetCount");
  Result (*device_name)(char*, int, Device) = find("cuDeviceGetName");
  Result (*device_uuid)(Uuid*, Device) = find("cuDeviceGetUuid");
  Result (*device_attribute)(int*, int, Device) = find("cuDeviceGetAttribute");
  Result (*device_pci)(char*, int, Device) = find("cuDeviceGetPCIBusId");
  Result (*device_bytes)(std::size_t*, Device) = find("cuDeviceTotalMem_v2");
  Result (*can_access_peer)(int*, Device, Device) = find("cuDeviceCanAccessPeer");

  Result (*retain)(Handle*, Device) = find("cuDevicePrimaryCtxRetain");
  Result (*release)(Device) = find("cuDevicePrimaryCtxRelease_v2");
  Result (*primary_state)(Device, unsigned*, int*) = find("cuDevicePrimaryCtxGetState");
  Result (*create_context)(Handle*, unsigned, Device) = find("cuCtxCreate_v2");
  Result (*destroy_context)(Handle) = find("cuCtxDestroy_v2");
  Result (*push)(Handle) = find("cuCtxPushCurrent_v2");
  Result (*pop)(Handle*) = find("cuCtxPopCurrent_v2");
  Result (*set_current)(Handle) = find("cuCtxSetCurrent");
  Result (*get_current)(Handle*) = find("cuCtxGetCurrent");
  Result (*context_device)(Device*) = find("cuCtxGetDevice");
  Result (*context_id)(Handle, unsigned long long*) = find("cuCtxGetId");
  Result (*synchronize)() = find("cuCtxSynchronize");

  Result (*allocate)(DevicePointer*, std::size_t) = find("cuMemAlloc_v2");
  Result (*allocate_managed)(DevicePointer*, std::size_t, unsigned) = find("cuMemAllocManaged");
  Result (*free)(DevicePointer) = find("cuMemFree_v2");
  Result (*allocate_host)(void**, std::size_t, unsigned) = find("cuMemHostAlloc");
  Result (*free_host)(void*) = find("cuMemFreeHost");
  Result (*register_host)(void*, std::size_t, unsigned) = find("cuMemHostRegister_v2");
  Result (*unregister_host)(void*) = find("cuMemHostUnregister");
  Result (*host_device_pointer)(DevicePointer*, void*,
                                unsigned) = find("cuMemHostGetDevicePointer_v2");
  Result (*memory_info)(std::size_t*, std::size_t*) = find("cuMemGetInfo_v2");
  Result (*address_range)(DevicePointer*, std::size_t*,
                          DevicePointer) = find("cuMemGetAddressRange_v2");
  Result (*pointer_attribute)(void*, int, DevicePointer) = find("cuPointerGetAttribute");
  Result (*pointer_attributes)(unsigned, int*, void**,
                               DevicePointer) = find("cuPointerGetAttributes");

  Result (*copy)(DevicePointer, DevicePointer, std::size_t) = find("cuMemcpy");
  Result (*copy_async)(DevicePointer, DevicePointer, std::size_t, Handle) = find("cuMemcpyAsync");
  Result (*to_device)(DevicePointer, const void*, std::size_t) = find("cuMemcpyHtoD_v2");
  Result (*to_host)(void*, DevicePointer, std::size_t) = find("cuMemcpyDtoH_v2");
  Result (*on_device)(DevicePointer, DevicePointer, std::size_t) = find("cuMemcpyDtoD_v2");
  Result (*on_device_async)(DevicePointer, DevicePointer, std::size_t,
                            Handle) = find("cuMemcpyDtoDAsync_v2");
  Result (*fill)(DevicePointer, std::uint8_t, std::size_t) = find("cuMemsetD8_v2");
  Result (*fill_words)(DevicePointer, std::uint32_t, std::size_t) = find("cuMemsetD32_v2");

  Result (*export_memory)(IpcHandle*, DevicePointer) = find("cuIpcGetMemHandle");
  Result (*open_memory)(DevicePointer*, IpcHandle, unsigned) = find("cuIpcOpenMemHandle_v2");
  Result (*close_memory)(DevicePointer) = find("cuIpcCloseMemHandle");

  Result (*create_stream)(Handle*, unsigned) = find("cuStreamCreate");
  Result (*destroy_stream)(Handle) = find("cuStreamDestroy_v2");
  Result (*stream_synchronize)(Handle) = find("cuStreamSynchronize");
  Result (*launch_host)(Handle, void (*)(void*), void*) = find("cuLaunchHostFunc");
  Result (*create_event)(Handle*, unsigned) = find("cuEventCreate");
  Result (*destroy_event)(Handle) = find("cuEventDestroy_v2");
  Result (*record_event)(Handle, Handle) = find("cuEventRecord");
  Result (*query_event)(Handle) = find("cuEventQuery");
  Result (*elapsed)(float*, Handle, Handle) = find("cuEventElapsedTime");

  /// Allocates, and fills with a value.
  DevicePointer filled(std::size_t bytes, std::uint8_t value) const;
  /// The byte at an address of a device.
  int byte_at(DevicePointer pointer) const;
};

}  // namespace emulator::test
