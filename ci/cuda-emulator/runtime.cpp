// libcudart: the few functions of the CUDA runtime that UCX and its ucx_perftest use, in terms of
// the emulated driver. The real runtime needs more of the driver than is documented.

#include <cstddef>

#include "ci/cuda-emulator/driver.hpp"

namespace emulator {
struct Context;
struct Stream;
struct Event;
}  // namespace emulator

using emulator::Context;
using emulator::DevicePointer;
using emulator::Event;
using emulator::Result;
using emulator::Stream;

extern "C" {
Result cuCtxGetCurrent(Context**);
Result cuCtxSetCurrent(Context*);
Result cuCtxSynchronize();
Result cuDeviceGetCount(int*);
Result cuDevicePrimaryCtxRetain(Context**, int);
Result cuEventCreate(Event**, unsigned);
Result cuEventDestroy_v2(Event*);
Result cuEventQuery(Event*);
Result cuEventRecord(Event*, Stream*);
Result cuGetErrorName(int, const char**);
Result cuGetErrorString(int, const char**);
Result cuInit(unsigned);
Result cuMemAllocManaged(DevicePointer*, std::size_t, unsigned);
Result cuMemAlloc_v2(DevicePointer*, std::size_t);
Result cuMemFreeHost(void*);
Result cuMemFree_v2(DevicePointer);
Result cuMemHostAlloc(void**, std::size_t, unsigned);
Result cuMemHostGetDevicePointer_v2(DevicePointer*, void*, unsigned);
Result cuMemHostRegister_v2(void*, std::size_t, unsigned);
Result cuMemHostUnregister(void*);
Result cuMemcpy(DevicePointer, DevicePointer, std::size_t);
Result cuMemcpyAsync(DevicePointer, DevicePointer, std::size_t, Stream*);
Result cuMemsetD8_v2(DevicePointer, unsigned char, std::size_t);
Result cuStreamCreate(Stream**, unsigned);
Result cuStreamDestroy_v2(Stream*);
Result cuStreamSynchronize(Stream*);
}

namespace {

thread_local int chosen_device = 0;
thread_local Result last_error = emulator::SUCCESS;

/// Remembers an error, as the runtime does.
Result said(Result result) {
  if (result != emulator::SUCCESS) last_error = result;
  return result;
}

/// The primary context of the chosen device, made at the first use; a current one stays.
Result context() {
  if (const auto result = cuInit(0); result != emulator::SUCCESS) return said(result);
  Context* current = nullptr;
  if (const auto result = cuCtxGetCurrent(&current); result != emulator::SUCCESS) {
    return said(result);
  }
  if (current != nullptr) return emulator::SUCCESS;
  const auto result = cuDevicePrimaryCtxRetain(&current, chosen_device);
  return said(result == emulator::SUCCESS ? cuCtxSetCurrent(current) : result);
}

DevicePointer device_pointer(const void* pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

/// Does `call` in a context.
template <typename Call>
Result in_context(Call call) {
  const auto result = context();
  return result == emulator::SUCCESS ? said(call()) : result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Result cudaGetDeviceCount(int* count) {
  *count = 0;
  const auto result = cuInit(0);
  return said(result == emulator::SUCCESS ? cuDeviceGetCount(count) : result);
}

Result cudaSetDevice(int device) {
  if (const auto result = cuInit(0); result != emulator::SUCCESS) return said(result);
  Context* primary = nullptr;
  const auto result = cuDevicePrimaryCtxRetain(&primary, device);
  if (result != emulator::SUCCESS) return said(result);
  chosen_device = device;
  return said(cuCtxSetCurrent(primary));
}

Result cudaGetDevice(int* device) {
  *device = chosen_device;
  return emulator::SUCCESS;
}

Result cudaDeviceSynchronize() { return in_context(cuCtxSynchronize); }

Result cudaMalloc(void** pointer, std::size_t bytes) {
  return in_context(
      [=] { return cuMemAlloc_v2(reinterpret_cast<DevicePointer*>(pointer), bytes); });
}

Result cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return in_context(
      [=] { return cuMemAllocManaged(reinterpret_cast<DevicePointer*>(pointer), bytes, flags); });
}

Result cudaFree(void* pointer) {
  return in_context([=] {
    return pointer == nullptr ? emulator::SUCCESS : cuMemFree_v2(device_pointer(pointer));
  });
}

Result cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return in_context([=] { return cuMemHostAlloc(pointer, bytes, flags); });
}

Result cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}

Result cudaFreeHost(void* pointer) {
  return in_context([=] { return cuMemFreeHost(pointer); });
}

Result cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return in_context([=] {
    return cuMemHostGetDevicePointer_v2(reinterpret_cast<DevicePointer*>(device), host, flags);
  });
}

Result cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return in_context([=] { return cuMemHostRegister_v2(pointer, bytes, flags); });
}

Result cudaHostUnregister(void* pointer) {
  return in_context([=] { return cuMemHostUnregister(pointer); });
}

Result cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  return in_context([=] { return cuMemcpy(device_pointer(to), device_pointer(from), bytes); });
}

Result cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, Stream* stream) {
  return in_context(
      [=] { return cuMemcpyAsync(device_pointer(to), device_pointer(from), bytes, stream); });
}

Result cudaMemset(void* pointer, int value, std::size_t bytes) {
  return in_context([=] {
    return cuMemsetD8_v2(device_pointer(pointer), static_cast<unsigned char>(value), bytes);
  });
}

Result cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return in_context([=] { return cuStreamCreate(stream, flags); });
}

Result cudaStreamDestroy(Stream* stream) { return said(cuStreamDestroy_v2(stream)); }

Result cudaStreamSynchronize(Stream* stream) {
  return in_context([=] { return cuStreamSynchronize(stream); });
}

Result cudaEventCreateWithFlags(Event** event, unsigned flags) {
  return in_context([=] { return cuEventCreate(event, flags); });
}

Result cudaEventDestroy(Event* event) { return said(cuEventDestroy_v2(event)); }

Result cudaEventQuery(Event* event) { return said(cuEventQuery(event)); }

Result cudaEventRecord(Event* event, Stream* stream) {
  return in_context([=] { return cuEventRecord(event, stream); });
}

Result cudaLaunchKernel(const void*, ...) { return said(emulator::NOT_SUPPORTED); }

Result cudaGetSymbolSize(std::size_t*, const void*) { return said(emulator::NOT_SUPPORTED); }

Result cudaGetSymbolAddress(void**, const void*) { return said(emulator::NOT_SUPPORTED); }

Result cudaPeekAtLastError() { return last_error; }

Result cudaGetLastError() {
  const auto error = last_error;
  last_error = emulator::SUCCESS;
  return error;
}

const char* cudaGetErrorString(Result result) {
  const char* text = nullptr;
  return cuGetErrorString(result, &text) == emulator::SUCCESS ? text : "unrecognized error code";
}

const char* cudaGetErrorName(Result result) {
  const char* text = nullptr;
  return cuGetErrorName(result, &text) == emulator::SUCCESS ? text : "unrecognized error code";
}

}  // extern "C"
#pragma GCC visibility pop
