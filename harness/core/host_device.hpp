#pragma once

/// Before a function that kernels call as well as the host.
#if defined(__CUDACC__)
#define UCXBENCH_HOST_DEVICE __host__ __device__
#else
#define UCXBENCH_HOST_DEVICE
#endif
