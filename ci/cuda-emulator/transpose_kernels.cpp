// The kernels of the transpose: their own source, compiled for the host.

#include "ci/cuda-emulator/kernels.hpp"
#include "workloads/transpose/cuda_kernels.cu"

namespace emulator {

using namespace ucxbench::transpose;  // NOLINT: all of it is the kernels' own

const Kernel transpose_kernels[] = {
    kernel<transpose_generate>(),   kernel<transpose_add>(),      kernel<transpose_add_both>(),
    kernel<transpose_add_to_sum>(), kernel<transpose_checksum>(), {},
};

}  // namespace emulator
