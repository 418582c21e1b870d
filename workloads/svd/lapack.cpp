#include "workloads/svd/lapack.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/library.hpp"

namespace ucxbench::svd {
namespace {

constexpr std::uint64_t cache_bytes = 128 << 10U;  // half of a small level-2 cache
constexpr std::uint64_t most_width = 32;           // LAPACK's usual block of columns

std::int32_t narrow(std::uint64_t number) { return static_cast<std::int32_t>(number); }

void check(std::int32_t info, const char* call) {
  if (info == 0) return;
  throw Failure(Exit::cannot_run, fmt::format("{} of LAPACK failed with {}", call, info));
}

void* open_lapack() {
  std::string why;
  // The name that distributions have for any LAPACK, and that of OpenBLAS where it stands alone.
  for (const auto* name : {"liblapack.so.3", "libopenblas.so.0"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = ::dlerror();
  }
  throw Failure(Exit::cannot_run, fmt::format("no LAPACK ({}): svd needs one, such as Debian's "
                                              "libopenblas0-serial or liblapack3",
                                              why));
}

}  // namespace

const Lapack& Lapack::get() {
  static const Lapack lapack;
  return lapack;
}

Lapack::Lapack() {
  void* library = open_lapack();
  const auto find = [&](auto*& function, const char* name) {
    if (find_function(library, name, function)) return;
    throw Failure(Exit::cannot_run, fmt::format("this LAPACK has no {}: older than 3.7", name));
  };
  find(latsqr_, "dlatsqr_");
  find(lamtsqr_, "dlamtsqr_");
  find(tpqrt_, "dtpqrt_");
  find(tpmqrt_, "dtpmqrt_");
  find(gesvd_, "dgesvd_");
  void (*set_threads)(int) = nullptr;
  if (find_function(library, "openblas_set_num_threads", set_threads)) set_threads(1);
}

Lapack::Shape Lapack::Shape::of(std::uint64_t rows, std::uint64_t columns) {
  const auto fitting = cache_bytes / (columns * sizeof(double));
  // Of a stride that is a power of two all columns would share a few lines of a cache: an odd
  // number of lines.
  const auto lines = (rows + 7) / 8 | 1;
  return {.rows = rows,
          .columns = columns,
          .stride = 8 * lines,
          .rows_at_once = std::max(3 * columns, fitting),
          .width = std::min(columns, most_width)};
}

std::uint64_t Lapack::Shape::reflector_elements() const {
  const auto further = rows_at_once - columns;  // rows: the first ones take in R's
  const auto blocks = (rows - columns + further - 1) / further;
  return width * columns * std::max<std::uint64_t>(blocks, 1);
}

void Lapack::tall_qr(const Shape& shape, double* block, double* reflectors, double* work) const {
  const auto m = narrow(shape.rows);
  const auto n = narrow(shape.columns);
  const auto stride = narrow(shape.stride);
  const auto at_once = narrow(shape.rows_at_once);
  const auto width = narrow(shape.width);
  const auto room = narrow(shape.work_elements());
  Int info = 0;
  latsqr_(&m, &n, &at_once, &width, block, &stride, reflectors, &width, work, &room, &info);
  check(info, "dlatsqr");
}

void Lapack::apply_tall_q(const Shape& shape, const double* block, const double* reflectors,
                          double* c, double* work) const {
  const auto m = narrow(shape.rows);
  const auto n = narrow(shape.columns);
  const auto stride = narrow(shape.stride);
  const auto at_once = narrow(shape.rows_at_once);
  const auto width = narrow(shape.width);
  const auto room = narrow(shape.work_elements());
  Int info = 0;
  lamtsqr_("L", "N", &m, &n, &n, &at_once, &width, block, &stride, reflectors, &width, c, &stride,
           work, &room, &info, 1, 1);
  check(info, "dlamtsqr");
}

void Lapack::pair_qr(std::uint64_t n, std::uint64_t width, double* upper, double* lower,
                     double* reflectors, double* work) const {
  const auto size = narrow(n);
  const auto block = narrow(width);
  Int info = 0;
  tpqrt_(&size, &size, &size, &block, upper, &size, lower, &size, reflectors, &block, work, &info);
  check(info, "dtpqrt");
}

void Lapack::apply_pair_q(std::uint64_t n, std::uint64_t width, const double* lower,
                          const double* reflectors, double* top, double* bottom,
                          double* work) const {
  const auto size = narrow(n);
  const auto block = narrow(width);
  Int info = 0;
  tpmqrt_("L", "N", &size, &size, &size, &size, &block, lower, &size, reflectors, &block, top,
          &size, bottom, &size, work, &info, 1, 1);
  check(info, "dtpmqrt");
}

void Lapack::svd(std::uint64_t n, double* a, double* s, double* u, double* vt) const {
  const auto size = narrow(n);
  Int info = 0;
  Int room = -1;  // asks how much it needs
  double needed = 0;
  gesvd_("A", "A", &size, &size, a, &size, s, u, &size, vt, &size, &needed, &room, &info, 1, 1);
  check(info, "dgesvd");
  std::vector<double> work(static_cast<std::size_t>(needed));
  room = narrow(work.size());
  gesvd_("A", "A", &size, &size, a, &size, s, u, &size, vt, &size, work.data(), &room, &info, 1, 1);
  check(info, "dgesvd");
}

}  // namespace ucxbench::svd
