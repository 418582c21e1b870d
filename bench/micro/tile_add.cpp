// Adding transposed tiles against a plain streaming triad over the same bytes with the same kind of
// stores, in turns on one CPU: tile_add [ROWS [ROUNDS]] prints both and their ratio, for a tile
// that has come and for two tiles that were both here.

#include <fmt/format.h>
#include <sched.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <ctime>
#include <string>
#include <vector>

#include "harness/core/statistics.hpp"
#include "harness/memory/buffer.hpp"
#include "workloads/common/cpu.hpp"
#include "workloads/transpose/cpu_kernels.hpp"

namespace ucxbench::transpose {
namespace {

// y = x + 3 t, element by element.
void plain_triad(const double* x, const double* t, double* y, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) y[i] = x[i] + 3 * t[i];
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void avx2_triad(const double* x, const double* t, double* y,
                                            std::uint64_t count) {
  const auto factor = _mm256_set1_pd(3);
  for (std::uint64_t i = 0; i < count; i += 4) {
    _mm256_stream_pd(y + i,
                     _mm256_fmadd_pd(factor, _mm256_loadu_pd(t + i), _mm256_loadu_pd(x + i)));
  }
}

[[gnu::target("avx512f")]] void avx512_triad(const double* x, const double* t, double* y,
                                             std::uint64_t count) {
  const auto factor = _mm512_set1_pd(3);
  for (std::uint64_t i = 0; i < count; i += 8) {
    _mm512_stream_pd(y + i,
                     _mm512_fmadd_pd(factor, _mm512_loadu_pd(t + i), _mm512_loadu_pd(x + i)));
  }
}
#endif

// Of this thread alone: on a busy machine the time in which it did not run is not counted.
double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void compare(const char* name, const SquareCode& code, decltype(&plain_triad) triad,
             std::uint64_t side, int rounds, Pages pages) {
  const auto kernels = make_cpu_kernels([] {}, code);
  const Tile tile{0, 0, side, side};
  Buffer x(MemoryKind::host, tile.bytes(), pages);
  Buffer t(MemoryKind::host, tile.bytes(), pages);
  const auto y_bytes = side * row_stride(side) * sizeof(double);
  Buffer y(MemoryKind::host, y_bytes, pages);
  Buffer u(MemoryKind::host, y_bytes, pages);
  const auto elements = [](Buffer& buffer) { return reinterpret_cast<double*>(buffer.data()); };
  const auto seconds = [](const auto& work) {
    const auto began = cpu_seconds();
    work();
    return cpu_seconds() - began;
  };
  const auto bytes = static_cast<double>(bytes_touched(tile, true));
  std::vector<double> add_GBps;
  std::vector<double> sum_GBps;
  std::vector<double> triad_GBps;
  std::vector<double> ratios;
  std::vector<double> both_ratios;
  for (int round = 0; round < rounds; ++round) {
    const auto a = seconds([&] { triad(elements(x), elements(t), elements(y), tile.elements()); });
    const auto b = seconds([&] { kernels->add(tile, elements(x), elements(t), elements(y)); });
    const auto c = seconds([&] { kernels->add_to_sum(tile, elements(x), elements(t)); });
    const auto d = seconds(
        [&] { kernels->add_both(tile, elements(x), elements(t), elements(y), elements(u)); });
    triad_GBps.push_back(bytes / a * 1e-9);
    add_GBps.push_back(bytes / b * 1e-9);
    sum_GBps.push_back(static_cast<double>(bytes_touched(tile, false)) / c * 1e-9);
    ratios.push_back(a / b);
    both_ratios.push_back(2 * a / d);
  }
  fmt::print(
      "{}, {}x{}, {} pages: triad {:.2f} GB/s, add {:.2f} GB/s; median ratios of {} pairs: add to "
      "triad "
      "{:.3f}, both tiles to two triads {:.3f}; sum {:.2f} GB/s\n",
      name, side, side, pages == Pages::huge ? "huge" : "usual", median(triad_GBps),
      median(add_GBps), rounds, median(ratios), median(both_ratios), median(sum_GBps));
}

}  // namespace
}  // namespace ucxbench::transpose

int main(int argc, char** argv) {
  using namespace ucxbench;
  using namespace ucxbench::transpose;
  const auto side = argc > 1 ? std::stoull(argv[1]) : 4096;
  const auto rounds = argc > 2 ? std::stoi(argv[2]) : 21;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  for (const auto pages : {Pages::touched, Pages::huge}) {
    compare("plain", plain_code(), plain_triad, side, rounds, pages);
#if defined(__x86_64__)
    if (has_avx2()) compare("AVX2", avx2_code(), avx2_triad, side, rounds, pages);
    if (has_avx512()) compare("AVX-512", avx512_code(), avx512_triad, side, rounds, pages);
#endif
  }
}
