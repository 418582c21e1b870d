#include "workloads/svd/cusolver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/library.hpp"

namespace ucxbench::svd {
namespace {

constexpr double one = 1;
constexpr double none = 0;

int as_int(std::uint64_t number) { return static_cast<int>(number); }

void check_status(int status, const char* call) {
  if (status == 0) return;
  throw Failure(Exit::cannot_run, fmt::format("{} failed with status {}", call, status));
}

void* open_cusolver() {
  std::string why;
  for (const auto* name : {"libcusolver.so.12", "libcusolver.so.11"}) {  // CUDA 13; 12 and 11
    if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return library;
    if (why.empty()) why = ::dlerror();
  }
  throw Failure(
      Exit::cannot_run,
      fmt::format("no cuSOLVER ({}): svd in GPU memory needs that of the CUDA toolkit, in a "
                  "directory of LD_LIBRARY_PATH or of ldconfig",
                  why));
}

}  // namespace

const Cusolver& Cusolver::get() {
  static const Cusolver solver;
  return solver;
}

Cusolver::Cusolver() {
  void* library = open_cusolver();
  // cuBLAS is found through cuSOLVER, which needs it: so they fit together.
  const auto find = [&](auto*& function, const char* name) {
    if (find_function(library, name, function)) return;
    throw Failure(Exit::cannot_run, fmt::format("this cuSOLVER has no {}", name));
  };
  find(create, "cusolverDnCreate");
  find(destroy, "cusolverDnDestroy");
  find(set_stream, "cusolverDnSetStream");
  find(geqrf_size, "cusolverDnDgeqrf_bufferSize");
  find(geqrf, "cusolverDnDgeqrf");
  find(ormqr_size, "cusolverDnDormqr_bufferSize");
  find(ormqr, "cusolverDnDormqr");
  find(gesvd_size, "cusolverDnDgesvd_bufferSize");
  find(gesvd, "cusolverDnDgesvd");
  find(create_blas, "cublasCreate_v2");
  find(destroy_blas, "cublasDestroy_v2");
  find(set_stream_of_blas, "cublasSetStream_v2");
  find(geam, "cublasDgeam");
  find(tpttr, "cublasDtpttr");
  find(trttp, "cublasDtrttp");
}

CudaSolver::CudaSolver(std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                       std::function<void()> progress)
    : progress_(std::move(progress)),
      solver_(Cusolver::get()),
      work_(MemoryKind::cuda, 1),
      info_(MemoryKind::cuda, sizeof(int)) {
  check_status(solver_.create(&handle_), "cusolverDnCreate");
  check_status(solver_.create_blas(&blas_), "cublasCreate");
  check_status(solver_.set_stream(handle_, stream_.native()), "cusolverDnSetStream");
  check_status(solver_.set_stream_of_blas(blas_, stream_.native()), "cublasSetStream");
  const auto n = as_int(columns);
  const auto need = [this](int room) { room_ = std::max(room_, room); };
  // Of the block, and of two triangles one above the other.
  for (const auto& [m, lda] : {std::pair(as_int(rows), as_int(stride)), std::pair(2 * n, 2 * n)}) {
    int room = 0;
    check_status(solver_.geqrf_size(handle_, m, n, nullptr, lda, &room),
                 "cusolverDnDgeqrf_bufferSize");
    need(room);
    check_status(solver_.ormqr_size(handle_, cusolver::side_left, cusolver::as_it_is, m, n, n,
                                    nullptr, lda, nullptr, nullptr, lda, &room),
                 "cusolverDnDormqr_bufferSize");
    need(room);
  }
  int room = 0;
  check_status(solver_.gesvd_size(handle_, n, n, &room), "cusolverDnDgesvd_bufferSize");
  need(room);
  work_ = Buffer(MemoryKind::cuda, static_cast<std::size_t>(std::max(room_, 1)) * sizeof(double));
}

CudaSolver::~CudaSolver() {
  if (blas_ != nullptr) solver_.destroy_blas(blas_);
  if (handle_ != nullptr) solver_.destroy(handle_);
}

void CudaSolver::qr(const Tall& of, double* a, double* tau) {
  check_status(solver_.geqrf(handle_, as_int(of.m), as_int(of.n), a, as_int(of.stride), tau, work(),
                             room_, info()),
               "cusolverDnDgeqrf");
}

void CudaSolver::apply_q(const Tall& of, const double* a, const double* tau, double* c) {
  check_status(solver_.ormqr(handle_, cusolver::side_left, cusolver::as_it_is, as_int(of.m),
                             as_int(of.n), as_int(of.n), a, as_int(of.stride), tau, c,
                             as_int(of.stride), work(), room_, info()),
               "cusolverDnDormqr");
}

void CudaSolver::svd(std::uint64_t n, double* a, double* s, double* u, double* vt) {
  const auto size = as_int(n);
  check_status(solver_.gesvd(handle_, 'A', 'A', size, size, a, size, s, u, size, vt, size, work(),
                             room_, nullptr, info()),
               "cusolverDnDgesvd");
  finish();
  int failed = 0;  // it says there alone that it did not converge
  copy_bytes(MemoryKind::cuda, &failed, info(), sizeof failed);
  check_status(failed, "cusolverDnDgesvd");
}

void CudaSolver::zero(const Tall& of, double* a) {
  const auto stride = as_int(of.stride);
  check_status(solver_.geam(blas_, cusolver::as_it_is, cusolver::as_it_is, as_int(of.m),
                            as_int(of.n), &none, a, stride, &none, a, stride, a, stride),
               "cublasDgeam");
}

void CudaSolver::copy_square(std::uint64_t n, const double* from, std::uint64_t from_stride,
                             double* to, std::uint64_t to_stride) {
  check_status(
      solver_.geam(blas_, cusolver::as_it_is, cusolver::as_it_is, as_int(n), as_int(n), &one, from,
                   as_int(from_stride), &none, to, as_int(to_stride), to, as_int(to_stride)),
      "cublasDgeam");
}

void CudaSolver::pack(std::uint64_t n, const double* a, std::uint64_t stride, double* packed) {
  check_status(solver_.trttp(blas_, cusolver::fill_upper, as_int(n), a, as_int(stride), packed),
               "cublasDtrttp");
}

void CudaSolver::unpack(std::uint64_t n, const double* packed, double* a, std::uint64_t stride) {
  check_status(solver_.tpttr(blas_, cusolver::fill_upper, as_int(n), packed, a, as_int(stride)),
               "cublasDtpttr");
}

void CudaSolver::finish() { stream_.finish(progress_); }

}  // namespace ucxbench::svd
