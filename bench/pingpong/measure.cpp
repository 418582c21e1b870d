#include "bench/pingpong/measure.hpp"

#include <algorithm>
#include <utility>

#include "bench/pingpong/case_run.hpp"
#include "bench/pingpong/verify.hpp"

namespace ucxbench::pingpong {
std::uint64_t iterations_in(double time_s, double iteration_s) {
  const std::uint64_t least = iteration_s < 0.1 ? 8 : 2;
  return std::clamp(static_cast<std::uint64_t>(time_s / std::max(iteration_s, 1e-9)), least,
                    most_iterations);
}

void expose(Loops& loops, Api api, Buffer& send, Buffer& receive) {
  auto& memory = api == Api::get ? send : receive;
  if (auto* one_sided = loops.one_sided()) one_sided->expose({memory.data(), memory.size()});
}

Measured measure(const Bench& bench, const Parameters& parameters,
                 const std::function<void(const LaunchRecord&)>& publish) {
  Verifier verifier(bench, parameters, bench.progress);
  CaseRun run{.bench = bench,
              .parameters = parameters,
              .verifier = verifier,
              .one_clock = bench.pair.one_clock(bench.progress)};
  run.record.src = bench.pair.lead();
  run.record.dst = bench.pair.follow();
  verifier.fill();
  run.record.overheads["timestamp_ns"] = bench.clock.cost_ns();
  measure_first_message(run);
  if (parameters.latency) {
    measure_latency(run);
    if (parameters.api != Api::get || bench.pair.leads()) {
      verifier.compare(bench.loops, "after the latency loop");
    }
    if (parameters.api == Api::put) {
      measure_completion(run);
      if (receives_one_way(bench.pair.role(), parameters.api)) {
        verifier.compare(bench.loops, "after the completion loop");
      }
    }
    publish(run.record);
  }
  if (parameters.bandwidth) {
    measure_bandwidth(run);
    if (receives_one_way(bench.pair.role(), parameters.api)) {
      verifier.compare(bench.one_way, "after the bandwidth loop");
    }
    verifier.check_window(bench.one_way, false, "in the window after the bandwidth loop");
    publish(run.record);
  }
  if (parameters.bidirectional && bench.pair.role() != Role::alone) {
    measure_bidirectional(run);
    verifier.compare(bench.loops, "after the bidirectional loop");
    verifier.check_window(bench.loops, true, "in the window after the bidirectional loop");
  }
  run.phase("verification");
  verifier.exchange_checked_messages();
  Measured measured{.record = std::move(run.record), .checks = verifier.outcome()};
  return measured;
}

}  // namespace ucxbench::pingpong
