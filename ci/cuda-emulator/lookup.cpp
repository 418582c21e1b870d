// cuGetProcAddress, and the names of errors.

#include <dlfcn.h>

#include <string>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/machine.hpp"

namespace emulator {
namespace {

/// Functions whose newest form came later than the version that the caller may ask for. All others
/// with a _v2 have had it since CUDA 4.
struct Newer {
  const char* name;
  const char* symbol;
  int since;
};
constexpr Newer NEWER[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 12050},
    {"cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040},
    {"cuEventElapsedTime", "cuEventElapsedTime_v2", 12080},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", 11000},
    {"cuMemAdvise", "cuMemAdvise_v2", 12020},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 12020},
};

void* exported(const std::string& symbol) {
  // This library, not whatever else is called so.
  static void* const self = [] {
    Dl_info library{};
    dladdr(reinterpret_cast<void*>(&machine), &library);
    return dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return symbol.starts_with("cu") ? dlsym(self, symbol.c_str()) : nullptr;
}

void* look_up(const std::string& name, int version) {
  for (const auto& newer : NEWER) {
    if (name != newer.name) continue;
    if (version >= newer.since) return exported(newer.symbol);
    if (auto* older = exported(name); older != nullptr) return older;
  }
  auto* second = exported(name + "_v2");
  return second != nullptr ? second : exported(name);
}

enum Found : int { FOUND = 0, NO_SYMBOL = 1, VERSION_TOO_LOW = 2 };

struct Text {
  Result result;
  const char* name;
  const char* meaning;
};
constexpr Text TEXTS[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {MAP_FAILED_, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or not supported"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
     "peer access has not been enabled"},
    {PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is active"},
    {CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

const Text* text_of(int result) {
  for (const auto& text : TEXTS) {
    if (text.result == result) return &text;
  }
  return nullptr;
}

}  // namespace

EMULATED(cuGetProcAddress_v2, const char* name, void** function, int version, std::uint64_t,
         int* found) {
  if (name == nullptr || function == nullptr) return INVALID_VALUE;
  *function = version > machine().driver_version ? nullptr : look_up(name, version);
  if (*function != nullptr) {
    if (found != nullptr) *found = FOUND;
    return SUCCESS;
  }
  if (found == nullptr) return NOT_FOUND;
  *found = version > machine().driver_version ? VERSION_TOO_LOW : NO_SYMBOL;
  return SUCCESS;
}

EMULATED(cuGetProcAddress, const char* name, void** function, int version, std::uint64_t flags) {
  return emulated_cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

EMULATED(cuGetErrorName, int result, const char** text) {
  const auto* known = text_of(result);
  *text = known != nullptr ? known->name : nullptr;
  return known != nullptr ? SUCCESS : INVALID_VALUE;
}

EMULATED(cuGetErrorString, int result, const char** text) {
  const auto* known = text_of(result);
  *text = known != nullptr ? known->meaning : nullptr;
  return known != nullptr ? SUCCESS : INVALID_VALUE;
}

}  // namespace emulator
