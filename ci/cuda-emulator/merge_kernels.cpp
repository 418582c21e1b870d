// The kernels of the merge: their own source, compiled for the host.

#include "ci/cuda-emulator/kernels.hpp"
#include "workloads/merge/cuda_kernels.cu"

namespace emulator {

using namespace ucxbench::merge;  // NOLINT: all of it is the kernels' own

const Kernel merge_kernels[] = {
    kernel<merge_generate>(), kernel<merge_count>(),
    kernel<merge_scatter>(),  kernel<merge_clear>(),
    kernel<merge_build>(),    kernel<merge_probe>(),
    kernel<merge_key_sum>(),  kernel<merge_misplaced_rows>(),
    kernel<merge_checksum>(), {},
};

}  // namespace emulator
