#include "bench/pingpong/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "bench/pingpong/threads.hpp"
#include "harness/core/units.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench::pingpong {
namespace {

// By reading all of it, which is more than they hold: what was used last, the first places, goes.
void push_out_of_caches(const Buffer& buffer) {
  constexpr std::size_t line = 64;
  const volatile auto* bytes = buffer.data();
  for (std::size_t at = 0; at < buffer.size(); at += line) static_cast<void>(bytes[at]);
}

}  // namespace

void CaseRun::phase(std::string_view what) const {
  bench.pair.rendezvous().phase(
      fmt::format("{} {}: {}", to_string(parameters.api), spaced_size(parameters.bytes), what));
}

void CaseRun::use(Loops& loops, int window, bool many_sends) const {
  auto buffers = bench.buffers(parameters.bytes, window, many_sends);
  if (parameters.buffers == Buffers::cold) {
    const auto room = std::min(bench.send.size(), bench.receive.size());
    buffers.places =
        std::bit_floor(room / LinkBuffers::place_bytes(std::max<std::size_t>(parameters.bytes, 1)));
    push_out_of_caches(bench.send);
    push_out_of_caches(bench.receive);
  }
  loops.use(buffers);
}

std::uint64_t CaseRun::agree(std::uint64_t value) const {
  return bench.pair.from_lead(value, bench.progress).get<std::uint64_t>();
}

double CaseRun::share(double part) const {
  return static_cast<double>(parameters.time_per_launch.count()) * 1e-9 * part;
}

double CaseRun::ways() const {
  return bench.pair.role() == Role::alone || is_answered(parameters.api) ? 1.0 : 2.0;
}

PlannedBlocks CaseRun::blocks_of(const char* metric, double iteration_s, double part,
                                 std::uint64_t least) const {
  const auto what = fmt::format("{}/{}/{}", to_string(parameters.api), parameters.bytes, metric);
  return plan_blocks(*bench.duet, what, iteration_s,
                     {.time_s = share(part), .least = least, .exactly = parameters.iterations},
                     [this](std::uint64_t value) { return agree(value); });
}

void CaseRun::add_times(std::vector<double>& times_us, std::span<const std::uint64_t> stamps,
                        double ways) const {
  for (const auto ticks : overlapping_iterations(stamps, parameters.threads)) {
    times_us.push_back(bench.clock.us(ticks) / ways);
  }
}

void CaseRun::keep_times(const std::string& metric, std::vector<double> times_us, double ways) {
  if (times_us.empty()) return;
  record.samples[metric] =
      make_samples(std::move(times_us), kept_samples, bench.clock.step_ns() * 1e-3 / ways);
}

}  // namespace ucxbench::pingpong
