#pragma once

#include <cstdint>
#include <functional>

#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_module.hpp"
#include "workloads/svd/cusolver_api.hpp"

namespace ucxbench::svd {

/// cuSOLVER, and the cuBLAS that it brings, found at run time as LAPACK is. Throws
/// Failure(Exit::cannot_run).
class Cusolver {
 public:
  /// The system's, loaded now; CUDA is not called yet. Throws when there is none.
  static const Cusolver& get();

  cusolver::Create* create = nullptr;
  cusolver::Destroy* destroy = nullptr;
  cusolver::SetStream* set_stream = nullptr;
  cusolver::GeqrfSize* geqrf_size = nullptr;
  cusolver::Geqrf* geqrf = nullptr;
  cusolver::OrmqrSize* ormqr_size = nullptr;
  cusolver::Ormqr* ormqr = nullptr;
  cusolver::GesvdSize* gesvd_size = nullptr;
  cusolver::Gesvd* gesvd = nullptr;

  cusolver::Create* create_blas = nullptr;
  cusolver::Destroy* destroy_blas = nullptr;
  cusolver::SetStream* set_stream_of_blas = nullptr;
  cusolver::Geam* geam = nullptr;
  cusolver::Tpttr* tpttr = nullptr;
  cusolver::Trttp* trttp = nullptr;

 private:
  Cusolver();
};

/// Factorizations on the GPU of the current context, one after another on a stream of their own.
/// Arrays are in its memory, column by column. Throws Failure(Exit::cannot_run), also where a call
/// says that it failed.
class CudaSolver {
 public:
  /// `rows` × `columns`: of the tallest array.
  CudaSolver(std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
             std::function<void()> progress);
  CudaSolver(const CudaSolver&) = delete;
  CudaSolver& operator=(const CudaSolver&) = delete;
  ~CudaSolver();

  /// m × n, m ≥ n.
  struct Tall {
    std::uint64_t m = 0, n = 0, stride = 0;
  };

  /// R is in the upper triangle then, Q's reflectors below and in `tau`, n of them.
  void qr(const Tall& of, double* a, double* tau);
  /// `c`, of the same shape, becomes Q times it.
  void apply_q(const Tall& of, const double* a, const double* tau, double* c);
  /// a = u diag(s) vt, n × n; `a` is lost. Done when it returns; the others are only begun.
  void svd(std::uint64_t n, double* a, double* s, double* u, double* vt);

  void zero(const Tall& of, double* a);
  void copy_square(std::uint64_t n, const double* from, std::uint64_t from_stride, double* to,
                   std::uint64_t to_stride);
  /// The upper triangle of an array's first n rows, packed column by column; and back, where the
  /// rest stays.
  void pack(std::uint64_t n, const double* a, std::uint64_t stride, double* packed);
  void unpack(std::uint64_t n, const double* packed, double* a, std::uint64_t stride);

  /// Returns when all is done; calls `progress` meanwhile.
  void finish();

 private:
  std::function<void()> progress_;
  const Cusolver& solver_;
  CudaStream stream_;
  void *handle_ = nullptr, *blas_ = nullptr;
  Buffer work_;
  int room_ = 0;
  Buffer info_;

  double* work() { return reinterpret_cast<double*>(work_.data()); }
  int* info() { return reinterpret_cast<int*>(info_.data()); }
};

}  // namespace ucxbench::svd
