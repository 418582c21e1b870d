// What measuring costs: the pieces that stand inside the timed loops, each alone.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench {
namespace {

void timestamp(benchmark::State& state) {
  const auto clock = Clock::calibrate();
  for (auto _ : state) benchmark::DoNotOptimize(clock.ticks());
}
BENCHMARK(timestamp);

void monotonic_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(monotonic_ns());
}
BENCHMARK(monotonic_clock);

// A time stamp, its store, and the activity count: all that a timed iteration adds.
void sample_record(benchmark::State& state) {
  const auto clock = Clock::calibrate();
  std::vector<std::uint64_t> stamps(1U << 16U);
  std::size_t next = 0;
  for (auto _ : state) {
    stamps[next] = clock.ticks();
    activity().bump();
    next = (next + 1) & (stamps.size() - 1);
  }
  benchmark::DoNotOptimize(stamps.data());
}
BENCHMARK(sample_record);

// The untimed loop's own work.
void activity_count(benchmark::State& state) {
  for (auto _ : state) activity().bump();
}
BENCHMARK(activity_count);

// Outside the clock, but it decides how long a run takes.
void payload(benchmark::State& state, bool compare) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
  fill_pattern(bytes, 1);
  for (auto _ : state) {
    if (compare) {
      benchmark::DoNotOptimize(find_mismatch(bytes, 1));
    } else {
      fill_pattern(bytes, 1);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(payload, fill, false)->Range(8, 8 << 20);
BENCHMARK_CAPTURE(payload, compare, true)->Range(8, 8 << 20);

}  // namespace
}  // namespace ucxbench

BENCHMARK_MAIN();
