#include "harness/memory/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/library.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

constexpr unsigned register_portable = 1;   // CU_MEMHOSTREGISTER_PORTABLE
constexpr int attribute_mps_enabled = 133;  // CU_DEVICE_ATTRIBUTE_MPS_ENABLED

// Of the one context of this process, for threads that come later.
std::atomic<void*> process_context{nullptr};

std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

const CudaDriver& CudaDriver::get() {
  static const CudaDriver driver;
  return driver;
}

CudaDriver::CudaDriver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const std::string why = ::dlerror();
    throw Failure(Exit::cannot_run, why.find("No such file") != std::string::npos
                                        ? "no CUDA driver (libcuda.so.1 not found)"
                                        : "no CUDA driver: " + why);
  }
  const auto find = [&](auto*& function, const char* name) {
    if (find_function(library, name, function)) return;
    throw Failure(Exit::cannot_run, fmt::format("the CUDA driver has no {}: older than {}", name,
                                                cuda_version(oldest_version)));
  };
  find(init_, "cuInit");
  find(get_version_, "cuDriverGetVersion");
  find(get_error_string_, "cuGetErrorString");
  find(device_count_, "cuDeviceGetCount");
  find(device_get_, "cuDeviceGet");
  find(device_name_, "cuDeviceGetName");
  find(device_pci_, "cuDeviceGetPCIBusId");
  find(device_memory_, "cuDeviceTotalMem_v2");
  // The first version of this function knows no MIG instances; drivers before CUDA 11.4 have only
  // that one.
  if (!find_function(library, "cuDeviceGetUuid_v2", device_uuid_)) {
    find_function(library, "cuDeviceGetUuid", device_uuid_);
  }
  find(retain_, "cuDevicePrimaryCtxRetain");
  find(set_current_, "cuCtxSetCurrent");
  find(synchronize_, "cuCtxSynchronize");
  find(allocate_, "cuMemAlloc_v2");
  find(allocate_managed_, "cuMemAllocManaged");
  find(allocate_pinned_, "cuMemHostAlloc");
  find(free_, "cuMemFree_v2");
  find(free_pinned_, "cuMemFreeHost");
  find(register_, "cuMemHostRegister_v2");
  find(unregister_, "cuMemHostUnregister");
  find(can_access_peer_, "cuDeviceCanAccessPeer");
  find(enable_peer_, "cuCtxEnablePeerAccess");
  find(current_device_, "cuCtxGetDevice");
  find(device_attribute_, "cuDeviceGetAttribute");
  find(allocate_async_, "cuMemAllocAsync");
  find(granularity_, "cuMemGetAllocationGranularity");
  find(create_, "cuMemCreate");
  find(release_, "cuMemRelease");
  find(reserve_, "cuMemAddressReserve");
  find(give_back_, "cuMemAddressFree");
  find(map_, "cuMemMap");
  find(unmap_, "cuMemUnmap");
  find(set_access_, "cuMemSetAccess");
  find(advise_, "cuMemAdvise");
  find(prefetch_, "cuMemPrefetchAsync");
  find(copy_, "cuMemcpy");
  find(set_bytes_, "cuMemsetD8_v2");
  find(set_words_, "cuMemsetD32_v2");
  find(copy_async_, "cuMemcpyAsync");
  find(load_module_, "cuModuleLoadData");
  find(unload_module_, "cuModuleUnload");
  find(module_function_, "cuModuleGetFunction");
  find(launch_, "cuLaunchKernel");
  find(create_stream_, "cuStreamCreate");
  find(destroy_stream_, "cuStreamDestroy_v2");
  find(create_event_, "cuEventCreate");
  find(destroy_event_, "cuEventDestroy_v2");
  find(record_event_, "cuEventRecord");
  find(query_event_, "cuEventQuery");
  check(init_(0), "cuInit");
  check(get_version_(&version_), "cuDriverGetVersion");
  if (version_ < oldest_version) {
    throw Failure(Exit::cannot_run,
                  fmt::format("the CUDA driver is of CUDA {}; this program needs {} or newer",
                              cuda_version(version_), cuda_version(oldest_version)));
  }
}

void CudaDriver::check(Result result, const char* call) const {
  if (result == 0) return;
  const char* words = nullptr;
  if (get_error_string_(result, &words) != 0 || words == nullptr) words = "unknown error";
  throw Failure(Exit::cannot_run, fmt::format("{}: {} (CUDA error {})", call, words, result));
}

std::vector<CudaDevice> CudaDriver::devices() const {
  int count = 0;
  check(device_count_(&count), "cuDeviceGetCount");
  std::vector<CudaDevice> found;
  for (int index = 0; index < count; ++index) {
    Device device = 0;
    std::array<char, 256> name{};
    std::array<char, 32> pci{};
    std::size_t bytes = 0;
    check(device_get_(&device, index), "cuDeviceGet");
    check(device_name_(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
    check(device_pci_(pci.data(), static_cast<int>(pci.size()), device), "cuDeviceGetPCIBusId");
    check(device_memory_(&bytes, device), "cuDeviceTotalMem");
    // Sysfs and hwloc write it so.
    found.push_back({.index = index,
                     .name = name.data(),
                     .pci = lower_case(pci.data()),
                     .memory_bytes = bytes,
                     .uuid = uuid_of(device),
                     .mps = uses_mps(device)});
  }
  return found;
}

std::string CudaDriver::uuid_of(Device device) const {
  std::array<unsigned char, 16> bytes{};
  if (device_uuid_ == nullptr || device_uuid_(&bytes, device) != 0) return "";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    text += fmt::format("{:02x}", bytes[at]);
  }
  return text;
}

std::optional<bool> CudaDriver::uses_mps(Device device) const {
  int enabled = 0;
  if (device_attribute_(&enabled, attribute_mps_enabled, device) != 0) return std::nullopt;
  return enabled != 0;
}

void CudaDriver::pin(std::byte* pointer, std::size_t bytes) const {
  check(register_(pointer, bytes, register_portable),
        fmt::format("cuMemHostRegister of {}", spaced_size(bytes)).c_str());
}
void CudaDriver::unpin(std::byte* pointer) const noexcept { unregister_(pointer); }

void CudaDriver::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (bytes == 0) return;
  check(copy_(address(to), address(from), bytes), "cuMemcpy");
  // A copy inside the device may return before it is done.
  check(synchronize_(), "cuCtxSynchronize");
}

void CudaDriver::fill(std::byte* pointer, std::size_t bytes, std::uint32_t word) const {
  const auto words = bytes / sizeof word;
  if (words > 0) check(set_words_(address(pointer), word, words), "cuMemsetD32");
  for (auto at = words * sizeof word; at < bytes; ++at, word >>= 8U) {
    check(set_bytes_(address(pointer + at), static_cast<unsigned char>(word), 1), "cuMemsetD8");
  }
  check(synchronize_(), "cuCtxSynchronize");
}

CudaContext::CudaContext(int device) {
  const auto& driver = CudaDriver::get();
  const auto all = driver.devices();
  if (device < 0 || device >= static_cast<int>(all.size())) {
    throw Failure(Exit::usage, fmt::format("--devs: no GPU {}; there are {}", device, all.size()));
  }
  device_ = all[static_cast<std::size_t>(device)];
  CudaDriver::Device handle = 0;
  driver.check(driver.device_get_(&handle, device), "cuDeviceGet");
  driver.check(driver.retain_(&handle_, handle), "cuDevicePrimaryCtxRetain");
  process_context = handle_;
  adopt();
}

void CudaContext::make_current() const {
  const auto& driver = CudaDriver::get();
  driver.check(driver.set_current_(handle_), "cuCtxSetCurrent");
}

bool CudaContext::reach(const CudaContext& other) const {
  const auto& driver = CudaDriver::get();
  CudaDriver::Device from = 0;
  CudaDriver::Device to = 0;
  int can = 0;
  driver.check(driver.device_get_(&from, device_.index), "cuDeviceGet");
  driver.check(driver.device_get_(&to, other.device_.index), "cuDeviceGet");
  driver.check(driver.can_access_peer_(&can, from, to), "cuDeviceCanAccessPeer");
  if (can == 0) return false;
  driver.check(driver.enable_peer_(other.handle_, 0), "cuCtxEnablePeerAccess");
  return true;
}

void CudaContext::adopt() {
  if (void* context = process_context) {
    const auto& driver = CudaDriver::get();
    driver.check(driver.set_current_(context), "cuCtxSetCurrent");
  }
}

int gpu_of_rank(const std::vector<int>& devices, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (!devices.empty()) return devices[at % devices.size()];
  const auto count = CudaDriver::get().devices().size();
  return count == 0 ? 0 : static_cast<int>(at % count);
}

bool is_emulated(const CudaDevice& device) { return device.name == "Emulated GPU"; }

Json to_json(const CudaDevice& device) {
  return {{"index", device.index},
          {"name", device.name},
          {"pci", device.pci},
          {"uuid", text_or_null(device.uuid)},
          {"memory_bytes", device.memory_bytes},
          {"mps", number_or_null(device.mps)},
          {"driver", CudaDriver::get().version()}};
}

}  // namespace ucxbench
