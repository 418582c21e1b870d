// What the transfer log costs per message: a record posted and completed, with both its time
// stamps.

#include "harness/comm/transfer_log.hpp"

#include <benchmark/benchmark.h>

#include "harness/core/clock.hpp"

namespace ucxbench {
namespace {

void transfer_record(benchmark::State& state) {
  constexpr std::size_t capacity = 1U << 16U;
  TransferLog log(capacity);
  for (auto _ : state) {
    if (log.records().size() == capacity) log.clear();
    const auto place = log.post({.posted_ns = monotonic_ns(), .bytes = 1U << 20U, .peer = 1});
    log.complete(place, monotonic_ns(), false);
  }
  benchmark::DoNotOptimize(log.records().data());
}
BENCHMARK(transfer_record);

}  // namespace
}  // namespace ucxbench
