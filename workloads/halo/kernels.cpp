#include "workloads/halo/kernels.hpp"

#include <utility>

namespace ucxbench::halo {

std::unique_ptr<Kernels> make_kernels(MemoryKind kind, Kernels::Progress progress) {
  return on_gpu(kind) ? make_cuda_kernels(std::move(progress))
                      : make_cpu_kernels(std::move(progress));
}

}  // namespace ucxbench::halo
