// Modules and kernels: the image is one that nvcc made, and must hold a kernel of the name that is
// asked for, but what runs is the same source, compiled for the host.

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ci/cuda-emulator/context.hpp"
#include "ci/cuda-emulator/device/launch.hpp"
#include "ci/cuda-emulator/kernels.hpp"
#include "ci/cuda-emulator/memory.hpp"
#include "ci/cuda-emulator/report.hpp"
#include "ci/cuda-emulator/streams.hpp"

namespace emulator {

struct Function {
  const Kernel* kernel;
};

struct Module {
  std::string image;
  std::map<std::string, Function, std::less<>> functions;
};

namespace {

// What a fat binary begins with (fatbinary_section.h of the CUDA toolkit names the word only).
struct FatBinary {
  static constexpr std::uint32_t MAGIC = 0xba55ed50;
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // of what follows
};

std::map<const Module*, std::unique_ptr<Module>>& modules() {
  static auto& all = *new std::map<const Module*, std::unique_ptr<Module>>;
  return all;
}

bool is_function(const Function* function) {
  for (const auto& [key, module] : modules()) {
    for (const auto& [name, known] : module->functions) {
      if (&known == function) return true;
    }
  }
  return false;
}

}  // namespace

EMULATED(cuModuleLoadData, Module** module, const void* image) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (module == nullptr || image == nullptr) return INVALID_VALUE;
  FatBinary header;
  std::memcpy(&header, image, sizeof header);
  if (header.magic != FatBinary::MAGIC) return INVALID_IMAGE;
  auto made = std::make_unique<Module>();
  made->image.assign(static_cast<const char*>(image), header.header_bytes + header.bytes);
  const std::lock_guard lock(driver_mutex());
  *module = made.get();
  modules().emplace(made.get(), std::move(made));
  return SUCCESS;
}

EMULATED(cuModuleUnload, Module* module) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return modules().erase(module) == 1 ? SUCCESS : INVALID_HANDLE;
}

EMULATED(cuModuleGetFunction, Function** function, Module* module, const char* name) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (function == nullptr || name == nullptr) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  if (!modules().contains(module)) return INVALID_HANDLE;
  // As a symbol of the code for one of the architectures.
  const auto symbol = '\0' + std::string(name) + '\0';
  const auto* kernel = find_kernel(name);
  if (kernel == nullptr || module->image.find(symbol) == std::string::npos) return NOT_FOUND;
  *function = &module->functions.try_emplace(name, Function{kernel}).first->second;
  return SUCCESS;
}

EMULATED(cuLaunchKernel, const Function* function, unsigned blocks_x, unsigned blocks_y,
         unsigned blocks_z, unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned,
         Stream* stream, void** parameters, void**) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (!is_stream(stream)) return INVALID_HANDLE;
  const auto threads = std::uint64_t{threads_x} * threads_y * threads_z;
  const bool too_many = threads > 1024 || blocks_x > 0x7fffffff || blocks_y > 65535;
  if (threads == 0 || blocks_x == 0 || blocks_y == 0 || blocks_z == 0 || too_many ||
      parameters == nullptr) {
    return INVALID_VALUE;
  }
  const std::lock_guard lock(driver_mutex());
  if (!is_function(function)) return INVALID_HANDLE;
  report().launched();
  const Grid grid{.blocks = {blocks_x, blocks_y, blocks_z},
                  .threads = {threads_x, threads_y, threads_z}};
  const auto& kernel = *function->kernel;
  std::vector<std::max_align_t> arguments(kernel.argument_bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(arguments.data(), parameters[0], kernel.argument_bytes);
  const auto ranges = memory().open_to_kernels();
  const auto outcome = run_grid(grid, ranges, kernel.body, arguments.data());
  memory().close_to_kernels();
  if (outcome.mistake.empty()) return SUCCESS;
  std::fprintf(stderr, "cuda-emulator: %s: %s\n", kernel.name, outcome.mistake.c_str());
  if (!outcome.out_of_bounds) return LAUNCH_FAILED;
  report().refused_access();
  return ILLEGAL_ADDRESS;
}

}  // namespace emulator
