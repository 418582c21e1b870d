#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/pingpong/case_run.hpp"
#include "harness/core/json.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/together.hpp"

namespace ucxbench::pingpong {
namespace {

using Rate = std::optional<double>;  // messages a second; none where the time was too short

enum class Ways { one, both };

// A stream as one side saw it.
struct Seen {
  Met meeting;    // before it
  Interval time;  // by the clock of the meeting
};

Json to_json(const Seen& seen) {
  return Json::array({to_json(seen.meeting), seen.time.begin, seen.time.end});
}
Seen seen_from(const Json& json) {
  return {
      .meeting = met_from(json.at(0)),
      .time = {.begin = json.at(1).get<std::uint64_t>(), .end = json.at(2).get<std::uint64_t>()}};
}

double gigabytes(const CaseRun& run) { return static_cast<double>(run.parameters.bytes) * 1e-9; }

// Messages in `part` of the time, after an uncounted stretch that doubles until it takes a tenth
// of that: connections, congestion windows and unexpected-message queues are then as warm as they
// get. Timed until the follower has everything: what a sender sees alone is too short.
template <typename Stretch>
std::uint64_t plan_messages(const CaseRun& run, double part, Stretch stretch) {
  const auto& p = run.parameters;
  const auto& clock = run.bench.clock;
  const auto first = p.bytes >= (4U << 20U) ? std::min(4, p.window) : p.window;
  auto count = run.agree(p.iterations.value_or(static_cast<std::uint64_t>(first)));
  double iteration_s = std::numeric_limits<double>::max();
  for (;;) {
    const auto start = clock.ticks();
    stretch(count);
    const auto took = run.seconds(clock.ticks() - start);
    if (p.iterations) return count;
    const bool warm = took >= run.share(part) * 0.1 || 2 * count > most_iterations;
    iteration_s = std::min(iteration_s, took / static_cast<double>(count));
    const auto total = std::clamp(std::ceil(run.share(part) / std::max(iteration_s, 1e-9)), 2.0,
                                  static_cast<double>(most_iterations));
    count = run.agree(warm ? static_cast<std::uint64_t>(total) : 2 * count);
    if (run.agree(warm) != 0) return count;
  }
}

// The two meet over the connection on which the follower may send, or as a duet's ranks do.
void meet(const CaseRun& run) {
  const auto& pair = run.bench.pair;
  if (run.bench.duet == nullptr) return run.bench.loops.meet();
  run.bench.duet->meet(pair.peer(), pair.role() == Role::lead, run.bench.progress);
}

Seen stream(const CaseRun& run, Ways ways, std::uint64_t count) {
  const auto& bench = run.bench;
  Seen seen{.meeting = timed_meeting([&] { meet(run); }), .time = {}};
  if (ways == Ways::both) {
    seen.time = bench.loops.both_ways(count);
    bench.loops.flush();
    return seen;
  }
  // What UCX says is sent may leave later, by progress of a connection that a stream over another
  // one does not move. So neither begins before the other has met.
  if (bench.duet == nullptr) bench.pair.await_both(bench.progress);
  seen.time = bench.one_way.one_way(count);
  // The lead's flush may need progress on the other side: over TCP it is a put without bytes and
  // its answer, unless all had left before (uct_tcp_ep_flush in UCX's src/uct/tcp/tcp_ep.c). So it
  // is over here, too, and said over another way than the connection.
  if (bench.duet != nullptr) {
    meet(run);
  } else {
    bench.pair.from_lead("flushed", bench.progress);
  }
  return seen;
}

// From when the first message was posted until the last was where it had to be, by who knows that:
// the receiver, or the origin of a one-sided operation.
double span_ns(const CaseRun& run, Ways ways, const Seen& lead, const Seen& follow) {
  const TimeAxis axis(run.one_clock, std::array{lead.meeting, follow.meeting});
  const auto on_axis = [&axis](const Seen& seen) {
    return Span{.begin = axis.at(seen.time.begin, seen.meeting),
                .end = axis.at(seen.time.end, seen.meeting)};
  };
  std::array spans{on_axis(lead), on_axis(follow)};
  if (ways == Ways::both) return together_of(spans).span_ns;
  if (!is_one_sided(run.parameters.api)) spans[0].end = spans[1].end;
  return together_of(std::span(spans).first(1)).span_ns;
}

// What came in a second, of `messages`, on the lead.
Rate rate_of(const CaseRun& run, Ways ways, std::uint64_t messages, const Seen& lead,
             const Seen& follow) {
  return Clock::rate_per_s(static_cast<double>(messages), span_ns(run, ways, lead, follow),
                           run.bench.clock.step_ns());
}

Loops& loops_of(const CaseRun& run, Ways ways) {
  return ways == Ways::both ? run.bench.loops : run.bench.one_way;
}

struct Streamed {
  Rate came, sent;
};

// One stream; on the lead, what came in a second and what its sender alone saw.
Streamed one_stream(const CaseRun& run, Ways ways, std::uint64_t count) {
  const auto own = stream(run, ways, count);
  const auto theirs = seen_from(run.bench.pair.from_follow(to_json(own), run.bench.progress));
  const auto messages = run.of_all_threads(count);
  return {
      .came = rate_of(run, ways, messages, own, theirs),
      .sent = Clock::rate_per_s(static_cast<double>(messages),
                                static_cast<double>(own.time.length()), run.bench.clock.step_ns())};
}

// Of one message, here and now: the least of some streams, which have an eighth of `messages`.
double least_s(const CaseRun& run, Ways ways, std::uint64_t messages) {
  constexpr std::uint64_t streams = 4;
  const auto some = std::max<std::uint64_t>(1, messages / 8 / streams);
  double least = std::numeric_limits<double>::max();
  for (std::uint64_t at = 0; at < streams; ++at) {
    const auto time = stream(run, ways, some).time;
    least = std::min(least, static_cast<double>(time.length()) * 1e-9 / static_cast<double>(some));
  }
  return least;
}

struct BlockRates {
  PlannedBlocks planned;
  std::vector<double> per_s;  // by block, on the lead; empty where one was too short for the clock
};

// Messages a second: the median of some streams, since one that is interrupted says nothing.
BlockRates rates_in_duet(const CaseRun& run, Ways ways, const char* metric, double part,
                         std::uint64_t messages_planned) {
  constexpr std::uint64_t most_streams = 4;
  const auto message_s = least_s(run, ways, messages_planned);
  const auto least = static_cast<std::uint64_t>(std::max(20, run.parameters.window));
  BlockRates rates{.planned = run.blocks_of(metric, message_s, part, 2 * least), .per_s = {}};
  const auto count = rates.planned.iterations;
  const auto streams = std::clamp(count / least, std::uint64_t{1}, most_streams);
  const auto messages_of = [&](std::uint64_t at) {
    return count * (at + 1) / streams - count * at / streams;
  };
  std::vector<Seen> own;
  run.bench.duet->blocks(rates.planned.quads, [&] {
    stream(run, ways, iterations_left_out(count));
    run.use_afresh(loops_of(run, ways), run.parameters.window, true);
    for (std::uint64_t at = 0; at < streams; ++at) {
      own.push_back(stream(run, ways, messages_of(at)));
    }
  });
  Json seen = Json::array();
  for (const auto& each : own) seen.push_back(to_json(each));
  const auto theirs = run.bench.pair.from_follow(seen, run.bench.progress);
  for (std::size_t begin = 0; begin < own.size(); begin += streams) {
    std::vector<double> of_block;
    for (std::uint64_t at = 0; at < streams; ++at) {
      const auto rate =
          rate_of(run, ways, messages_of(at), own[begin + at], seen_from(theirs.at(begin + at)));
      if (rate) of_block.push_back(*rate);
    }
    if (of_block.size() < streams) return {.planned = rates.planned, .per_s = {}};
    rates.per_s.push_back(median(std::move(of_block)));
  }
  return rates;
}

void keep_rates(CaseRun& run, const char* metric, BlockRates rates, double unit) {
  if (rates.per_s.empty()) return;
  for (auto& rate : rates.per_s) rate *= unit;
  keep_blocks(run.record, *run.bench.duet, metric, rates.planned, std::move(rates.per_s));
}

void keep_one(CaseRun& run, const std::string& metric, const Rate& rate, double unit = 1) {
  if (rate) run.record.samples[metric] = make_samples({*rate * unit}, kept_samples);
}

void bandwidth_in_duet(CaseRun& run, double part) {
  auto& record = run.record;
  auto rates = rates_in_duet(run, Ways::one, "bandwidth_GBps", part, record.messages);
  record.messages = rates.planned.iterations * 2 * rates.planned.quads.size();
  if (!rates.per_s.empty()) record.samples["message_rate_per_s"] = samples_of_blocks(rates.per_s);
  keep_rates(run, "bandwidth_GBps", std::move(rates), gigabytes(run));
}

}  // namespace

void measure_bandwidth(CaseRun& run) {
  const auto& p = run.parameters;
  auto& record = run.record;
  run.phase("bandwidth");
  run.use(run.bench.one_way, p.window, true);
  const auto part = p.bidirectional ? 0.2 : 0.3;
  record.messages =
      plan_messages(run, part, [&](std::uint64_t count) { one_stream(run, Ways::one, count); });
  if (run.bench.duet != nullptr) return bandwidth_in_duet(run, part);
  run.use_afresh(run.bench.one_way, p.window, true);
  // One figure for the whole stream: messages arrive in bursts (a socket's buffer at a time), so
  // the rate of any part of it would be of the bursts.
  const auto [came, sent] = one_stream(run, Ways::one, record.messages);
  record.messages = run.of_all_threads(record.messages);
  keep_one(run, "message_rate_per_s", came);
  if (is_atomic(p.api)) return;
  keep_one(run, "bandwidth_GBps", came, gigabytes(run));
  if (!is_answered(p.api)) keep_one(run, "bandwidth_sender_GBps", sent, gigabytes(run));
}

void measure_bidirectional(CaseRun& run) {
  constexpr const char* metric = "bandwidth_bidirectional_GBps";
  constexpr double part = 0.2;
  run.phase("bidirectional bandwidth");
  run.use(run.bench.loops, run.parameters.window, true);
  const auto count =
      plan_messages(run, part, [&](std::uint64_t messages) { stream(run, Ways::both, messages); });
  if (run.bench.duet != nullptr) {
    keep_rates(run, metric, rates_in_duet(run, Ways::both, metric, part, count),
               2 * gigabytes(run));
    return;
  }
  run.use_afresh(run.bench.loops, run.parameters.window, true);
  keep_one(run, metric, one_stream(run, Ways::both, count).came, 2 * gigabytes(run));
}

}  // namespace ucxbench::pingpong
