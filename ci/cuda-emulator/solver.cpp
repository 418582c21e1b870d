// libcusolver.so.12 with the part of cuBLAS that svd uses, on the emulated device's memory: each
// call copies its arrays out, lets the host's LAPACK compute, and copies back what changed. All is
// done when a call returns.

#include <dlfcn.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "ci/cuda-emulator/driver.hpp"
#include "workloads/svd/cusolver_api.hpp"

namespace api = ucxbench::svd::cusolver;

extern "C" {
emulator::Result cuMemcpyDtoH_v2(void* to, emulator::DevicePointer from, std::size_t bytes);
emulator::Result cuMemcpyHtoD_v2(emulator::DevicePointer to, const void* from, std::size_t bytes);
}

namespace {

enum Status : int { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, EXECUTION_FAILED = 6 };

int handle;  // its address is that of all

/// The host's, of any version.
struct Lapack {
  void (*geqrf)(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
  void (*ormqr)(const char*, const char*, const int*, const int*, const int*, const double*,
                const int*, const double*, double*, const int*, double*, const int*, int*,
                std::size_t, std::size_t);
  void (*gesvd)(const char*, const char*, const int*, const int*, double*, const int*, double*,
                double*, const int*, double*, const int*, double*, const int*, int*, std::size_t,
                std::size_t);
};

const Lapack* lapack() {
  static const Lapack* const found = [] {
    static Lapack all;
    void* library = nullptr;
    for (const auto* name : {"liblapack.so.3", "libopenblas.so.0"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) return static_cast<Lapack*>(nullptr);
    const auto find = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool complete =
        find(all.geqrf, "dgeqrf_") && find(all.ormqr, "dormqr_") && find(all.gesvd, "dgesvd_");
    return complete ? &all : nullptr;
  }();
  return found;
}

/// An array of the device, as it was when this was made.
class Copied {
 public:
  template <typename Number>
  Copied(Number* there, int rows, int columns, int stride)
      : there_(reinterpret_cast<emulator::DevicePointer>(there)),
        numbers_(count(rows, columns, stride)) {
    if (rows > stride) return;
    good_ =
        numbers_.empty() || cuMemcpyDtoH_v2(numbers_.data(), there_, bytes()) == emulator::SUCCESS;
  }

  bool good() const { return good_; }
  double* data() { return numbers_.data(); }
  bool write_back() const {
    return numbers_.empty() ||
           cuMemcpyHtoD_v2(there_, numbers_.data(), bytes()) == emulator::SUCCESS;
  }

 private:
  static std::size_t count(int rows, int columns, int stride) {
    if (rows <= 0 || columns <= 0 || rows > stride) return 0;
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(columns - 1) +
           static_cast<std::size_t>(rows);
  }
  std::size_t bytes() const { return numbers_.size() * sizeof(double); }

  emulator::DevicePointer there_;
  std::vector<double> numbers_;
  bool good_ = false;
};

int tell(int* info, int value) {
  const auto there = reinterpret_cast<emulator::DevicePointer>(info);
  return cuMemcpyHtoD_v2(there, &value, sizeof value) == emulator::SUCCESS ? SUCCESS
                                                                           : EXECUTION_FAILED;
}

std::size_t packed(int n) {
  return static_cast<std::size_t>(n) * (static_cast<std::size_t>(n) + 1) / 2;
}

/// As cuSOLVER, it needs what it asked for.
constexpr int room_of_columns = 64;

}  // namespace

// The types say that they are what the program calls.
#define SOLVER(type, name) extern "C" __attribute__((visibility("default"))) api::type name

SOLVER(Create, cusolverDnCreate);
SOLVER(Create, cublasCreate_v2);
SOLVER(Destroy, cusolverDnDestroy);
SOLVER(Destroy, cublasDestroy_v2);
SOLVER(SetStream, cusolverDnSetStream);
SOLVER(SetStream, cublasSetStream_v2);
SOLVER(GeqrfSize, cusolverDnDgeqrf_bufferSize);
SOLVER(Geqrf, cusolverDnDgeqrf);
SOLVER(OrmqrSize, cusolverDnDormqr_bufferSize);
SOLVER(Ormqr, cusolverDnDormqr);
SOLVER(GesvdSize, cusolverDnDgesvd_bufferSize);
SOLVER(Gesvd, cusolverDnDgesvd);
SOLVER(Geam, cublasDgeam);
SOLVER(Tpttr, cublasDtpttr);
SOLVER(Trttp, cublasDtrttp);

int cusolverDnCreate(void** made) {
  *made = &handle;
  return lapack() != nullptr ? SUCCESS : NOT_INITIALIZED;
}

int cublasCreate_v2(void** made) { return cusolverDnCreate(made); }
int cusolverDnDestroy(void*) { return SUCCESS; }
int cublasDestroy_v2(void*) { return SUCCESS; }
int cusolverDnSetStream(void*, void*) { return SUCCESS; }
int cublasSetStream_v2(void*, void*) { return SUCCESS; }

int cusolverDnDgeqrf_bufferSize(void*, int, int n, double*, int, int* room) {
  *room = room_of_columns * n;
  return SUCCESS;
}

int cusolverDnDgeqrf(void*, int m, int n, double* a, int lda, double* tau, double*, int room,
                     int* info) {
  Copied block(a, m, n, lda);
  Copied factors(tau, n, 1, n);
  if (room < room_of_columns * n || !block.good() || !factors.good()) return INVALID_VALUE;
  std::vector<double> work(static_cast<std::size_t>(room));
  int said = 0;
  lapack()->geqrf(&m, &n, block.data(), &lda, factors.data(), work.data(), &room, &said);
  if (!block.write_back() || !factors.write_back()) return EXECUTION_FAILED;
  return tell(info, said);
}

int cusolverDnDormqr_bufferSize(void*, int, int, int, int n, int, const double*, int, const double*,
                                const double*, int, int* room) {
  *room = room_of_columns * n + 64 * 65;  // of dormqr's own triangle
  return SUCCESS;
}

int cusolverDnDormqr(void*, int side, int operation, int m, int n, int k, const double* a, int lda,
                     const double* tau, double* c, int ldc, double*, int room, int* info) {
  Copied block(a, m, k, lda);
  Copied factors(tau, k, 1, k);
  Copied result(c, m, n, ldc);
  if (side != api::side_left || operation != api::as_it_is || room < room_of_columns * n) {
    return INVALID_VALUE;
  }
  if (!block.good() || !factors.good() || !result.good()) return INVALID_VALUE;
  std::vector<double> work(static_cast<std::size_t>(room));
  int said = 0;
  lapack()->ormqr("L", "N", &m, &n, &k, block.data(), &lda, factors.data(), result.data(), &ldc,
                  work.data(), &room, &said, 1, 1);
  return result.write_back() ? tell(info, said) : EXECUTION_FAILED;
}

int cusolverDnDgesvd_bufferSize(void*, int m, int n, int* room) {
  if (m < n) return INVALID_VALUE;
  *room = room_of_columns * (m + 4 * n);
  return SUCCESS;
}

int cusolverDnDgesvd(void*, signed char job_u, signed char job_vt, int m, int n, double* a, int lda,
                     double* s, double* u, int ldu, double* vt, int ldvt, double*, int room,
                     double*, int* info) {
  Copied block(a, m, n, lda);
  Copied values(s, n, 1, n);
  Copied left(u, m, m, ldu);
  Copied right(vt, n, n, ldvt);
  if (job_u != 'A' || job_vt != 'A' || m < n || room < room_of_columns * (m + 4 * n)) {
    return INVALID_VALUE;
  }
  if (!block.good() || !values.good() || !left.good() || !right.good()) return INVALID_VALUE;
  std::vector<double> work(static_cast<std::size_t>(room));
  int said = 0;
  lapack()->gesvd("A", "A", &m, &n, block.data(), &lda, values.data(), left.data(), &ldu,
                  right.data(), &ldvt, work.data(), &room, &said, 1, 1);
  for (const auto* changed : {&block, &values, &left, &right}) {
    if (!changed->write_back()) return EXECUTION_FAILED;
  }
  return tell(info, said);
}

int cublasDgeam(void*, int operation_a, int operation_b, int m, int n, const double* alpha,
                const double* a, int lda, const double* beta, const double* b, int ldb, double* c,
                int ldc) {
  if (operation_a != api::as_it_is || operation_b != api::as_it_is) return INVALID_VALUE;
  Copied sum(c, m, n, ldc);
  Copied first(a, *alpha != 0 ? m : 0, n, lda);
  Copied second(b, *beta != 0 ? m : 0, n, ldb);
  if (!sum.good() || !first.good() || !second.good()) return INVALID_VALUE;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const auto of_first = *alpha != 0 ? *alpha * first.data()[j * lda + i] : 0;
      const auto of_second = *beta != 0 ? *beta * second.data()[j * ldb + i] : 0;
      sum.data()[j * ldc + i] = of_first + of_second;
    }
  }
  return sum.write_back() ? SUCCESS : EXECUTION_FAILED;
}

int cublasDtpttr(void*, int fill, int n, const double* ap, double* a, int lda) {
  const auto count = static_cast<int>(packed(n));
  Copied triangle(ap, count, 1, count);
  Copied square(a, n, n, lda);
  if (fill != api::fill_upper || !triangle.good() || !square.good()) return INVALID_VALUE;
  const auto* next = triangle.data();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) square.data()[j * lda + i] = *next++;
  }
  return square.write_back() ? SUCCESS : EXECUTION_FAILED;
}

int cublasDtrttp(void*, int fill, int n, const double* a, int lda, double* ap) {
  const auto count = static_cast<int>(packed(n));
  Copied triangle(ap, count, 1, count);
  Copied square(a, n, n, lda);
  if (fill != api::fill_upper || !triangle.good() || !square.good()) return INVALID_VALUE;
  auto* next = triangle.data();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) *next++ = square.data()[j * lda + i];
  }
  return triangle.write_back() ? SUCCESS : EXECUTION_FAILED;
}
