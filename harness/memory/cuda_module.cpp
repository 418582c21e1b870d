#include "harness/memory/cuda_module.hpp"

#include <array>

namespace ucxbench {
namespace {

constexpr unsigned non_blocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned disable_timing = 2;  // CU_EVENT_DISABLE_TIMING
constexpr int not_ready = 600;          // CUDA_ERROR_NOT_READY

}  // namespace

CudaModule::CudaModule(const void* fat_binary) {
  const auto& driver = CudaDriver::get();
  driver.check(driver.load_module_(&handle_, fat_binary), "cuModuleLoadData");
}

CudaModule::~CudaModule() { CudaDriver::get().unload_module_(handle_); }

void* CudaModule::function(const char* name) {
  if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
  const auto& driver = CudaDriver::get();
  void* found = nullptr;
  driver.check(driver.module_function_(&found, handle_, name),
               (std::string("cuModuleGetFunction of ") + name).c_str());
  functions_.emplace(name, found);
  return found;
}

CudaStream::CudaStream() {
  const auto& driver = CudaDriver::get();
  driver.check(driver.create_stream_(&handle_, non_blocking), "cuStreamCreate");
  driver.check(driver.create_event_(&event_, disable_timing), "cuEventCreate");
}

CudaStream::~CudaStream() {
  const auto& driver = CudaDriver::get();
  driver.destroy_event_(event_);
  driver.destroy_stream_(handle_);
}

void CudaStream::launch(CudaModule& module, const char* kernel, const CudaGrid& grid,
                        void* arguments) {
  const auto& driver = CudaDriver::get();
  std::array<void*, 1> parameters = {arguments};
  driver.check(driver.launch_(module.function(kernel), grid.blocks, grid.rows_of_blocks, 1,
                              grid.threads, 1, 1, 0, handle_, parameters.data(), nullptr),
               kernel);
}

void CudaStream::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto& driver = CudaDriver::get();
  driver.check(driver.copy_async_(reinterpret_cast<CudaDriver::Pointer>(to),
                                  reinterpret_cast<CudaDriver::Pointer>(from), bytes, handle_),
               "cuMemcpyAsync");
}

void CudaStream::finish(const std::function<void()>& meanwhile) {
  const auto& driver = CudaDriver::get();
  driver.check(driver.record_event_(event_, handle_), "cuEventRecord");
  auto result = driver.query_event_(event_);
  for (; result == not_ready; result = driver.query_event_(event_)) meanwhile();
  driver.check(result, "a kernel");
}

}  // namespace ucxbench
