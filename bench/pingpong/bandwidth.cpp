#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bench/pingpong/case_run.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench::pingpong {
namespace {

using Rate = std::optional<double>;  // messages a second; none where the time was too short
using Stream = std::function<std::uint64_t(std::uint64_t messages)>;  // in how many ticks

Rate the_less(const Rate& one, const Rate& other) {
  return one && other ? std::min(one, other) : std::nullopt;
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

// Of the pair's other side, on the lead.
Rate of_follow(const CaseRun& run, const Rate& mine) {
  const auto rate = run.bench.pair.from_follow(number_or_null(mine), run.bench.progress);
  return rate.is_null() ? std::nullopt : Rate(rate.get<double>());
}

// On the lead, where both are known, what the sender and the receiver saw. Readiness and the end
// are said over the rendezvous, since the receiver never sends on this connection.
std::pair<Rate, Rate> stream(const CaseRun& run, std::uint64_t count) {
  run.bench.pair.from_follow("ready", run.bench.progress);
  const auto ticks = run.bench.one_way.one_way(count);
  // The lead's flush may need progress on the other side: over TCP it is a put without bytes and
  // its answer, unless all had left before (uct_tcp_ep_flush in UCX's src/uct/tcp/tcp_ep.c).
  run.bench.pair.from_lead("flushed", run.bench.progress);
  const auto mine = run.bench.clock.per_s(static_cast<double>(run.of_all_threads(count)), ticks);
  return {mine, of_follow(run, mine)};
}

// Of one message, here and now: the least of some streams, which have an eighth of `messages`.
double least_s(const CaseRun& run, std::uint64_t messages, const Stream& stream) {
  constexpr std::uint64_t streams = 4;
  const auto some = std::max<std::uint64_t>(1, messages / 8 / streams);
  double least = std::numeric_limits<double>::max();
  for (std::uint64_t at = 0; at < streams; ++at) {
    least = std::min(least, run.seconds(stream(some)) / static_cast<double>(some));
  }
  return least;
}

struct BlockRates {
  PlannedBlocks planned;
  std::vector<double> per_s;  // by block, on the lead; empty where one was too short for the clock
};

// Messages a second: the median of some streams, since one that is interrupted says nothing. Of a
// stream the slower end's: a receiver that did not run while it came finds all of it at once.
BlockRates rates_in_duet(const CaseRun& run, const char* metric, double part,
                         std::uint64_t messages_planned, const Stream& stream) {
  constexpr std::uint64_t most_streams = 4;
  constexpr double too_short = std::numeric_limits<double>::max();
  const auto message_s = least_s(run, messages_planned, stream);
  const auto least = static_cast<std::uint64_t>(std::max(20, run.parameters.window));
  BlockRates rates{.planned = run.blocks_of(metric, message_s, part, 2 * least), .per_s = {}};
  const auto count = rates.planned.iterations;
  const auto streams = std::clamp(count / least, std::uint64_t{1}, most_streams);
  std::vector<double> mine;
  run.bench.duet->blocks(rates.planned.quads, [&] {
    stream(iterations_left_out(count));
    for (std::uint64_t at = 0; at < streams; ++at) {
      const auto messages = count * (at + 1) / streams - count * at / streams;
      const auto ticks = stream(messages);
      const auto rate = run.bench.clock.per_s(static_cast<double>(messages), ticks);
      mine.push_back(rate.value_or(too_short));
    }
  });
  const auto theirs =
      run.bench.pair.from_follow(mine, run.bench.progress).get<std::vector<double>>();
  for (std::size_t at = 0; at < mine.size(); at += streams) {
    std::vector<double> of_block;
    for (auto i = at; i < at + streams; ++i) of_block.push_back(std::min(mine[i], theirs[i]));
    rates.per_s.push_back(median(std::move(of_block)));
  }
  if (std::ranges::any_of(rates.per_s, [](double rate) { return rate >= too_short; })) {
    rates.per_s.clear();
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
  const Stream one_way = [&run](std::uint64_t messages) {
    const auto& pair = run.bench.pair;
    // The follower waits for the first message, and has received everything.
    const auto meet = [&] {
      run.bench.duet->meet(pair.peer(), pair.role() == Role::lead, run.bench.progress);
    };
    meet();
    const auto ticks = run.bench.one_way.one_way(messages);
    meet();  // the lead's flush is over, as in stream()
    return ticks;
  };
  auto rates = rates_in_duet(run, "bandwidth_GBps", part, record.messages, one_way);
  record.messages = rates.planned.iterations * 2 * rates.planned.quads.size();
  if (!rates.per_s.empty()) record.samples["message_rate_per_s"] = samples_of_blocks(rates.per_s);
  keep_rates(run, "bandwidth_GBps", std::move(rates), gigabytes(run));
}

void bidirectional_in_duet(CaseRun& run, std::uint64_t count) {
  const Stream both_ways = [&loops = run.bench.loops](std::uint64_t messages) {
    const auto ticks = loops.both_ways(messages);
    loops.flush();
    return ticks;
  };
  constexpr const char* metric = "bandwidth_bidirectional_GBps";
  keep_rates(run, metric, rates_in_duet(run, metric, 0.2, count, both_ways), 2 * gigabytes(run));
}

}  // namespace

void measure_bandwidth(CaseRun& run) {
  const auto& p = run.parameters;
  auto& record = run.record;
  run.phase("bandwidth");
  run.use(run.bench.one_way, p.window, true);
  const auto part = p.bidirectional ? 0.2 : 0.3;
  record.messages = plan_messages(run, part, [&](std::uint64_t count) { stream(run, count); });
  if (run.bench.duet != nullptr) return bandwidth_in_duet(run, part);
  // One figure for the whole stream: messages arrive in bursts (a socket's buffer at a time), so
  // the rate of any part of it would be of the bursts.
  auto [sending, receiving] = stream(run, record.messages);
  record.messages = run.of_all_threads(record.messages);
  // A target may look only when everything has come; the origin's time ends with a flush.
  const bool put = p.api == Api::put;
  if (put && !receiving) receiving = sending;
  // A thread, or a second endpoint, may begin to look after messages have come.
  if (put || run.threads() > 1 || p.endpoints > 1) receiving = the_less(sending, receiving);
  const bool answered = is_answered(p.api);
  keep_one(run, "message_rate_per_s", answered ? sending : receiving);
  if (is_atomic(p.api)) return;
  keep_one(run, "bandwidth_GBps", answered ? sending : receiving, gigabytes(run));
  if (!answered) keep_one(run, "bandwidth_sender_GBps", sending, gigabytes(run));
}

void measure_bidirectional(CaseRun& run) {
  auto& loops = run.bench.loops;
  run.phase("bidirectional bandwidth");
  run.use(loops, run.parameters.window, true);
  const auto count =
      plan_messages(run, 0.2, [&](std::uint64_t messages) { loops.both_ways(messages); });
  if (run.bench.duet != nullptr) return bidirectional_in_duet(run, count);
  const auto ticks = loops.both_ways(count);
  const auto mine = run.bench.clock.per_s(static_cast<double>(run.of_all_threads(count)), ticks);
  keep_one(run, "bandwidth_bidirectional_GBps", the_less(mine, of_follow(run, mine)),
           2 * gigabytes(run));
}

}  // namespace ucxbench::pingpong
