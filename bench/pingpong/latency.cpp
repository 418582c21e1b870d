#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bench/pingpong/case_run.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench::pingpong {
namespace {

// Above this size one time stamp (≤ 30 ns) is below 0.5 % of any iteration seen so far, and the
// time for an untimed copy of the loop is better spent on samples.
constexpr std::uint64_t cross_checked_bytes = std::uint64_t{64} * 1024;

constexpr std::uint64_t chunks = 8;  // of the latency loop, timed and untimed in turn

// Doubles the count until the warm-up's time or ucx_perftest's 10,000 iterations are spent;
// returns the seconds of one iteration, the least seen: a preemption must not shorten what
// follows.
double warm_up(CaseRun& run) {
  constexpr std::uint64_t most = 10'000;
  const double limit = std::clamp(run.share(0.1), 1e-3, 0.1);
  double spent = 0;
  double iteration_s = std::numeric_limits<double>::max();
  auto& done = run.record.warmup_iterations;
  for (std::uint64_t count = 1; count != 0;) {
    const auto took = run.timed_round_trips(count);
    spent += took;
    done += count;
    iteration_s = std::min(iteration_s, took / static_cast<double>(count));
    const bool enough = spent >= limit || done + 2 * count > most;
    count = run.agree(enough ? 0 : 2 * count);
  }
  return iteration_s;
}

void latency_in_duet(CaseRun& run, double iteration_s) {
  auto& duet = *run.bench.duet;
  constexpr std::uint64_t least = 20;
  const auto planned = run.blocks_of("latency_us", iteration_s, 0.4, least);
  run.bench.loops.meet();
  std::vector<double> values;
  duet.blocks(planned.quads, [&] {
    const auto count = planned.iterations;
    run.timed_round_trips(iterations_left_out(count));
    run.use_afresh(run.bench.loops, 1, false);
    run.bench.loops.meet();
    const auto parts = std::clamp(count / 2, std::uint64_t{1}, chunks);
    std::vector<double> times_us;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const auto of_part = count * (part + 1) / parts - count * part / parts;
      times_us.push_back(run.timed_round_trips(of_part) * 1e6 / static_cast<double>(of_part));
    }
    run.bench.loops.flush();
    values.push_back(median(std::move(times_us)) / run.ways());
  });
  run.record.iterations = planned.iterations * values.size();
  keep_blocks(run.record, duet, "latency_us", planned, std::move(values));
}

void latency_of_iterations(CaseRun& run, double iteration_s) {
  const auto& bench = run.bench;
  const auto& parameters = run.parameters;
  const auto some = iterations_in(run.share(0.3), iteration_s);
  const auto iterations = run.agree(parameters.iterations.value_or(some));
  const bool cross_check = parameters.bytes <= cross_checked_bytes && run.threads() == 1;
  const auto parts = cross_check ? std::min(chunks, iterations) : 1;

  // Touched here, so that storing a stamp is never a page fault.
  std::vector<std::uint64_t> stamps(run.of_all_threads(iterations + parts), 0);
  std::vector<double> timed_us;
  std::vector<double> untimed_us;
  std::vector<double> latency_us;
  latency_us.reserve(run.of_all_threads(iterations));
  run.use_afresh(bench.loops, 1, false);
  bench.loops.meet();
  auto* next = stamps.data();
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto count = iterations * (part + 1) / parts - iterations * part / parts;
    bench.loops.round_trips(count, next);
    if (cross_check) {
      timed_us.push_back(bench.clock.us(next[count] - next[0]) / static_cast<double>(count));
      untimed_us.push_back(run.timed_round_trips(count) * 1e6 / static_cast<double>(count));
    }
    run.add_times(latency_us, {next, run.of_all_threads(count + 1)}, run.ways());
    next += run.of_all_threads(count + 1);
  }
  run.record.iterations = run.of_all_threads(iterations);
  run.keep_times("latency_us", std::move(latency_us), run.ways());
  if (cross_check) {
    run.record.overheads["timed_mean_us"] = median(timed_us) / run.ways();
    run.record.overheads["untimed_mean_us"] = median(untimed_us) / run.ways();
  }
}

}  // namespace

void measure_first_message(CaseRun& run) {
  run.use(run.bench.loops, 1, false);
  run.phase("first message");
  run.bench.loops.meet();
  run.record.cold.first_message_us = run.timed_round_trips(1) * 1e6 / run.ways();
}

void measure_latency(CaseRun& run) {
  double iteration_s = *run.record.cold.first_message_us * 1e-6 * run.ways();
  if (run.parameters.warmup_runs > 0) run.phase("warm-up");
  for (int at = 0; at < run.parameters.warmup_runs; ++at) iteration_s = warm_up(run);

  run.phase("latency");
  if (run.bench.duet != nullptr) {
    latency_in_duet(run, iteration_s);
  } else {
    latency_of_iterations(run, iteration_s);
  }
}

// Fewer than round trips, since each takes longer.
void measure_completion(CaseRun& run) {
  run.phase("completion");
  const auto some = std::max<std::uint64_t>(run.record.iterations / run.threads() / 4, 1);
  const auto count = run.parameters.iterations.value_or(some);
  std::vector<std::uint64_t> stamps(run.of_all_threads(count + 1), 0);
  run.use_afresh(run.bench.loops, 1, false);
  run.bench.loops.meet();
  run.bench.loops.one_sided()->completions(count, stamps.data());
  if (!run.bench.pair.leads()) return;
  std::vector<double> completion_us;
  completion_us.reserve(run.of_all_threads(count));
  run.add_times(completion_us, stamps, 1);
  run.keep_times("completion_us", std::move(completion_us), 1);
}

}  // namespace ucxbench::pingpong
