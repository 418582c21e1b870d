#include "ci/cuda-emulator/kernels.hpp"

#include <cstring>

namespace emulator {

const Kernel* find_kernel(const char* name) {
  for (const auto* workload = all_kernels; *workload != nullptr; ++workload) {
    for (const auto* kernel = *workload; kernel->name != nullptr; ++kernel) {
      if (std::strcmp(kernel->name, name) == 0) return kernel;
    }
  }
  return nullptr;
}

}  // namespace emulator
