#include "harness/run/duets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/core/failure.hpp"
#include "harness/core/hash.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench {
namespace {

constexpr double block_s = 2e-3;
// More do not help: between duets, processes differ by more.
constexpr std::uint64_t most_quads = 50;

}  // namespace

std::string why_no_duet(const LaunchPlan& plan, const Result& result) {
  const auto* benchmark = find_benchmark(plan.benchmark);
  const auto most = std::min(benchmark == nullptr ? 0 : benchmark->duet_ranks, most_duet_ranks);
  if (most == 0) return fmt::format("{} cannot pause", plan.benchmark);
  if (!plan.launch.told.empty()) return "the ranks are on several hosts";
  if (plan.ranks > most) return fmt::format("{} ranks, of at most {}", plan.ranks, most);
  for (const auto& kind : plan.memory) {
    if (kind.place == MemoryPlace::managed)
      return "managed memory, which the driver moves meanwhile";
    if (needs_cuda(kind) && !benchmark->duet_gpus) {
      return fmt::format("{} memory", to_string(kind));
    }
  }
  if (benchmark->why_no_duet != nullptr) {
    for (const auto index : plan.cases) {
      const auto why = benchmark->why_no_duet(result.cases[index].parameters);
      if (!why.empty()) return why;
    }
  }
  for (const auto& rank : plan.launch.ranks) {
    if (!rank.wrap.empty()) return "--wrap";
    if (rank.cpus.empty()) return "the ranks are not bound to CPUs";
  }
  return "";
}

std::uint64_t duet_offer(const LaunchPlan& plan, const Result& result) {
  if (!why_no_duet(plan, result).empty()) return 0;
  std::string text;
  if (const auto steps = find_benchmark(plan.benchmark)->duet_steps; steps > 1) {
    text = fmt::format("{} steps {}\n", plan.benchmark, steps);
  }
  for (const auto index : plan.cases) text += result.cases[index].key + "\n";
  for (const auto& rank : plan.launch.ranks) {
    text += fmt::format("{}\n", fmt::join(rank.cpus, ","));
  }
  return fnv1a(text);
}

std::uint64_t iterations_left_out(std::uint64_t iterations) { return (iterations + 2) / 3; }

PlannedBlocks plan_blocks(DuetRank& duet, const std::string& what, double iteration_s,
                          const BlockLimits& limits,
                          const std::function<std::uint64_t(std::uint64_t)>& share) {
  const auto names = duet.exchange(fnv1a(what));
  if (names[0] != names[1]) {
    throw Failure(Exit::lost, "base and new measure different things: use --method turns");
  }
  const auto both = duet.exchange(iteration_s);
  const auto one_s = std::max((both[0] + both[1]) / 2, 1e-9);
  const auto whole = [](double blocks) { return static_cast<std::uint64_t>(blocks); };
  const auto pairs = 0.75 * limits.time_s / 2 / one_s;  // of iterations, one for each block
  const auto affordable = whole(pairs / static_cast<double>(limits.least_quads));
  const auto usual =
      std::min({std::max(limits.least, whole(block_s / one_s)), affordable, limits.most});
  const auto iterations = limits.exactly.value_or(std::max(limits.fewest, usual));
  const auto quads = std::clamp(whole(pairs / static_cast<double>(iterations)),
                                std::min(limits.least_quads, most_quads), most_quads);
  const auto decided = duet.exchange(share(iterations << 8U | quads))[0];
  return {decided >> 8U, duet.draw(decided & 0xffU, what)};
}

std::vector<double> medians_of_blocks(const std::vector<double>& iterations,
                                      const PlannedBlocks& planned) {
  if (iterations.size() != 2 * planned.quads.size() * planned.iterations) return {};
  const auto of_block = static_cast<std::ptrdiff_t>(planned.iterations);
  std::vector<double> values;
  for (auto at = iterations.begin(); at != iterations.end(); at += of_block) {
    values.push_back(median(std::vector(at, at + of_block)));
  }
  return values;
}

Samples samples_of_blocks(const std::vector<double>& values) {
  auto samples = make_samples(values, values.size());
  samples.quantiles.p90 = samples.quantiles.p99 = samples.quantiles.p999 = std::nullopt;
  return samples;
}

void keep_blocks(LaunchRecord& record, const DuetRank& duet, const std::string& metric,
                 const PlannedBlocks& planned, std::vector<double> values) {
  if (!record.duet) {
    record.duet = {.id = duet.id(), .first = duet.first() == DuetSide::base ? "base" : "new"};
  }
  record.samples[metric] = samples_of_blocks(values);
  record.duet->blocks[metric] = {planned.quads, planned.iterations, std::move(values)};
}

}  // namespace ucxbench
