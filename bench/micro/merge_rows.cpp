// The merge's passes over rows on one CPU, for each kind of processor that this one is: rows per
// second. taskset -c 1 merge_rows --benchmark_filter=scatter

#include <benchmark/benchmark.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "harness/memory/buffer.hpp"
#include "workloads/common/cpu.hpp"
#include "workloads/merge/cpu_kernels.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::uint64_t rows = std::uint64_t{1} << 22U;
constexpr std::uint32_t columns = 2;

std::uint64_t* words_in(Buffer& buffer) { return reinterpret_cast<std::uint64_t*>(buffer.data()); }

Buffer huge(std::size_t bytes) { return {MemoryKind::host, bytes, Pages::huge}; }

struct Table {
  explicit Table(Kernels& kernels, Side side) : memory(huge(rows * columns * 8)) {
    const Generator generator({.rows_per_rank = rows, .frac_match = 0.3});
    kernels.generate(generator, side, 0, rows, columns, words_in(memory));
  }
  Rows part(std::uint64_t first, std::uint64_t count) {
    return {words_in(memory) + first, std::min(count, rows - first), rows};
  }

  Buffer memory;
};

void count(benchmark::State& state, const RowCode& code) {
  const auto kernels = make_cpu_kernels([] {}, code);
  Table table(*kernels, Side::probe);
  const Spread spread{.parts = static_cast<std::uint32_t>(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(kernels->count(table.part(0, rows), spread));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

void scatter(benchmark::State& state, const RowCode& code) {
  const auto kernels = make_cpu_kernels([] {}, code);
  Table table(*kernels, Side::probe);
  const Spread spread{.parts = static_cast<std::uint32_t>(state.range(0))};
  const auto counts = kernels->count(table.part(0, rows), spread);
  const auto blocks = blocks_of(spread, counts);
  auto out = huge(room_of(blocks) * columns * 8);
  for (auto _ : state) {
    kernels->scatter(table.part(0, rows), columns, spread, bucket_words(spread, counts, columns),
                     {blocks.front().stride()}, words_in(out));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

// One hash table after the other, of so many rows each, and as many looked up in it.
void join(benchmark::State& state, const RowCode& code, bool probe) {
  const auto part = static_cast<std::uint64_t>(state.range(0));
  const auto kernels = make_cpu_kernels([] {}, code);
  Table build(*kernels, Side::build);
  Table probed(*kernels, Side::probe);
  auto memory = huge(rows * (2 * columns - 1) * 8);
  kernels->reserve(columns, part, huge);
  for (auto _ : state) {
    Joined joined{.words = words_in(memory), .capacity = rows};
    for (std::uint64_t first = 0; first < rows; first += part) {
      const std::vector<Rows> from = {build.part(first, part)};
      if (!probe || first == 0) kernels->build(from);
      if (!probe) continue;
      const std::vector<Rows> with = {probed.part(first, part)};
      kernels->probe(with, joined);
    }
    benchmark::DoNotOptimize(joined.rows);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

void add_all(const std::string& name, const RowCode& code) {
  const auto add = [&](const char* pass, auto work) {
    return benchmark::RegisterBenchmark((pass + ("/" + name)).c_str(), work);
  };
  add("count", [=](benchmark::State& state) { count(state, code); })->Arg(1024);
  add("scatter", [=](benchmark::State& state) { scatter(state, code); })
      ->RangeMultiplier(2)
      ->Range(64, 8192);
  add("build", [=](benchmark::State& state) { join(state, code, false); })
      ->RangeMultiplier(4)
      ->Range(4096, rows);
  add("probe", [=](benchmark::State& state) { join(state, code, true); })
      ->RangeMultiplier(4)
      ->Range(4096, rows);
}

}  // namespace
}  // namespace ucxbench::merge

int main(int argc, char** argv) {
  using namespace ucxbench;
  using namespace ucxbench::merge;
  add_all("plain", plain_rows());
  if (has_avx2()) add_all("avx2", avx2_rows());
  if (has_avx512()) add_all("avx512", avx512_rows());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
