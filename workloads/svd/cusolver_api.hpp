#pragma once

/// The few functions of cuSOLVER and cuBLAS that are used, declared here so that nothing needs a
/// CUDA toolkit (cuSOLVER and cuBLAS API references, CUDA 11 to 13). Status and options are their
/// enumerations as numbers, handles and streams are addresses. Where there is a toolkit,
/// ci/cuda-emulator/solver_abi_check.cpp compares them with its headers.
namespace ucxbench::svd::cusolver {

constexpr int side_left = 0;   // CUBLAS_SIDE_LEFT
constexpr int as_it_is = 0;    // CUBLAS_OP_N
constexpr int fill_upper = 1;  // CUBLAS_FILL_MODE_UPPER

using Create = int(void** handle);
using Destroy = int(void* handle);
using SetStream = int(void* handle, void* stream);

using GeqrfSize = int(void* handle, int m, int n, double* a, int lda, int* room);
using Geqrf = int(void* handle, int m, int n, double* a, int lda, double* tau, double* work,
                  int room, int* info);
using OrmqrSize = int(void* handle, int side, int operation, int m, int n, int k, const double* a,
                      int lda, const double* tau, const double* c, int ldc, int* room);
using Ormqr = int(void* handle, int side, int operation, int m, int n, int k, const double* a,
                  int lda, const double* tau, double* c, int ldc, double* work, int room,
                  int* info);
using GesvdSize = int(void* handle, int m, int n, int* room);
using Gesvd = int(void* handle, signed char job_u, signed char job_vt, int m, int n, double* a,
                  int lda, double* s, double* u, int ldu, double* vt, int ldvt, double* work,
                  int room, double* superdiagonal, int* info);

/// C = alpha A + beta B; what has the factor 0 is not read.
using Geam = int(void* handle, int operation_a, int operation_b, int m, int n, const double* alpha,
                 const double* a, int lda, const double* beta, const double* b, int ldb, double* c,
                 int ldc);
using Tpttr = int(void* handle, int fill, int n, const double* packed, double* a, int lda);
using Trttp = int(void* handle, int fill, int n, const double* a, int lda, double* packed);

}  // namespace ucxbench::svd::cusolver
