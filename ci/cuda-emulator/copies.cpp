// cuMemcpy, cuMemset and their relatives: done at once, whatever the stream.

#include <cstring>

#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/report.hpp"
#include "ci/cuda-emulator/streams.hpp"

namespace emulator {
namespace {

/// One end of a copy.
struct End {
  Allocation* allocation;  // none: ordinary host memory
  char* bytes;
};

enum class May { BE_ANY, NOT_BE_PLAIN_HOST, NOT_BE_DEVICE };

/// Finds where the bytes of an address are, and that there are so many.
Result resolve(std::uintptr_t address, std::size_t bytes, May may, End& end) {
  auto* found = memory().find(address);
  const bool is_device = memory().is_device_address(address);
  if (found == nullptr) {
    if (is_device) {
      report().refused_access();
      return ILLEGAL_ADDRESS;
    }
    if (may == May::NOT_BE_PLAIN_HOST || address == 0) return INVALID_VALUE;
    end = {nullptr, reinterpret_cast<char*>(address)};
    return SUCCESS;
  }
  // Beyond registered memory lies ordinary memory.
  const bool beyond = found->kind != Kind::REGISTERED && bytes > found->end() - address;
  if (beyond || !found->accessible) {
    report().refused_access();
    return ILLEGAL_ADDRESS;
  }
  if (is_device && may == May::NOT_BE_DEVICE) return INVALID_VALUE;
  end = {found, found->at(address)};
  return SUCCESS;
}

Result copy(std::uintptr_t to, May to_may, std::uintptr_t from, May from_may, std::size_t bytes) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (bytes == 0) return SUCCESS;
  const std::lock_guard lock(driver_mutex());
  End target;
  End source;
  if (const auto result = resolve(to, bytes, to_may, target); result != SUCCESS) return result;
  if (const auto result = resolve(from, bytes, from_may, source); result != SUCCESS) return result;
  std::memmove(target.bytes, source.bytes, bytes);
  report().copied(target.allocation, source.allocation, bytes);
  return SUCCESS;
}

Result copy_on(const Stream* stream, std::uintptr_t to, May to_may, std::uintptr_t from,
               May from_may, std::size_t bytes) {
  if (!is_stream(stream)) return INVALID_HANDLE;
  return copy(to, to_may, from, from_may, bytes);
}

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <typename Value>
Result fill(DevicePointer pointer, Value value, std::size_t count) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (count == 0) return SUCCESS;
  if (pointer % sizeof(Value) != 0) return INVALID_VALUE;
  if (count > SIZE_MAX / sizeof(Value)) return ILLEGAL_ADDRESS;
  const std::lock_guard lock(driver_mutex());
  End target;
  const auto result = resolve(pointer, count * sizeof(Value), May::NOT_BE_PLAIN_HOST, target);
  if (result != SUCCESS) return result;
  for (std::size_t index = 0; index < count; ++index) {
    std::memcpy(target.bytes + index * sizeof(Value), &value, sizeof(Value));
  }
  return SUCCESS;
}

template <typename Value>
Result fill_on(const Stream* stream, DevicePointer pointer, Value value, std::size_t count) {
  return is_stream(stream) ? fill(pointer, value, count) : INVALID_HANDLE;
}

constexpr auto ANY = May::BE_ANY;
constexpr auto DEV = May::NOT_BE_PLAIN_HOST;
constexpr auto HOST = May::NOT_BE_DEVICE;

}  // namespace

EMULATED(cuMemcpy, DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(to, ANY, from, ANY, bytes);
}

EMULATED(cuMemcpyAsync, DevicePointer to, DevicePointer from, std::size_t bytes, Stream* stream) {
  return copy_on(stream, to, ANY, from, ANY, bytes);
}

EMULATED(cuMemcpyPeer, DevicePointer to, Context* to_context, DevicePointer from,
         Context* from_context, std::size_t bytes) {
  if (!is_context(to_context) || !is_context(from_context)) return INVALID_CONTEXT;
  return copy(to, DEV, from, DEV, bytes);
}

EMULATED(cuMemcpyPeerAsync, DevicePointer to, Context* to_context, DevicePointer from,
         Context* from_context, std::size_t bytes, Stream* stream) {
  if (!is_context(to_context) || !is_context(from_context)) return INVALID_CONTEXT;
  return copy_on(stream, to, DEV, from, DEV, bytes);
}

EMULATED(cuMemcpyHtoD_v2, DevicePointer to, const void* from, std::size_t bytes) {
  return copy(to, DEV, address(from), HOST, bytes);
}

EMULATED(cuMemcpyDtoH_v2, void* to, DevicePointer from, std::size_t bytes) {
  return copy(address(to), HOST, from, DEV, bytes);
}

EMULATED(cuMemcpyDtoD_v2, DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(to, DEV, from, DEV, bytes);
}

EMULATED(cuMemcpyHtoDAsync_v2, DevicePointer to, const void* from, std::size_t bytes,
         Stream* stream) {
  return copy_on(stream, to, DEV, address(from), HOST, bytes);
}

EMULATED(cuMemcpyDtoHAsync_v2, void* to, DevicePointer from, std::size_t bytes, Stream* stream) {
  return copy_on(stream, address(to), HOST, from, DEV, bytes);
}

EMULATED(cuMemcpyDtoDAsync_v2, DevicePointer to, DevicePointer from, std::size_t bytes,
         Stream* stream) {
  return copy_on(stream, to, DEV, from, DEV, bytes);
}

EMULATED(cuMemsetD8_v2, DevicePointer pointer, std::uint8_t value, std::size_t count) {
  return fill(pointer, value, count);
}

EMULATED(cuMemsetD16_v2, DevicePointer pointer, std::uint16_t value, std::size_t count) {
  return fill(pointer, value, count);
}

EMULATED(cuMemsetD32_v2, DevicePointer pointer, std::uint32_t value, std::size_t count) {
  return fill(pointer, value, count);
}

EMULATED(cuMemsetD8Async, DevicePointer pointer, std::uint8_t value, std::size_t count,
         Stream* stream) {
  return fill_on(stream, pointer, value, count);
}

EMULATED(cuMemsetD16Async, DevicePointer pointer, std::uint16_t value, std::size_t count,
         Stream* stream) {
  return fill_on(stream, pointer, value, count);
}

EMULATED(cuMemsetD32Async, DevicePointer pointer, std::uint32_t value, std::size_t count,
         Stream* stream) {
  return fill_on(stream, pointer, value, count);
}

}  // namespace emulator
