// In place of cuda_kernels.cpp where there is no nvcc.

#include "harness/core/failure.hpp"
#include "workloads/halo/kernels.hpp"

namespace ucxbench::halo {

std::string why_no_cuda_kernels() {
  return "built without CUDA kernels: --memory cuda and managed need a build with nvcc";
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the other declares it
std::unique_ptr<Kernels> make_cuda_kernels(Kernels::Progress, std::uint64_t) {
  throw Failure(Exit::cannot_run, why_no_cuda_kernels());
}

}  // namespace ucxbench::halo
