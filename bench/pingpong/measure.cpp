#include "bench/pingpong/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/pingpong/threads.hpp"
#include "bench/pingpong/verify.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/duets.hpp"

namespace ucxbench::pingpong {
namespace {

// Samples kept in the results file per launch and metric: enough for a histogram, and a default run
// stays at a few MiB.
constexpr std::size_t kept_samples = 256;

// Above this size one time stamp (≤ 30 ns) is below 0.5 % of any iteration seen so far, and the
// time for an untimed copy of the loop is better spent on samples.
constexpr std::uint64_t cross_checked_bytes = std::uint64_t{64} * 1024;

constexpr std::uint64_t most_iterations = 1'000'000;
constexpr std::uint64_t chunks = 8;  // of the latency loop, timed and untimed in turn

class Measurement {
 public:
  Measurement(const Bench& bench, const Parameters& parameters,
              const std::function<void(const LaunchRecord&)>& publish)
      : bench_(bench),
        publish_(publish),
        p_(parameters),
        progress_(bench.progress),
        verifier_(bench, parameters, progress_) {
    measured_.record.src = bench.pair.lead();
    measured_.record.dst = bench.pair.follow();
  }

  Measured run() {
    verifier_.fill();
    measured_.record.overheads["timestamp_ns"] = bench_.clock.cost_ns();
    first_message();
    if (p_.latency) {
      latency();
      if (p_.api != Api::get || bench_.pair.leads()) {
        verifier_.compare(bench_.loops, "after the latency loop");
      }
      if (p_.api == Api::put) completion();
      publish_(measured_.record);
    }
    if (p_.bandwidth) {
      bandwidth();
      if (receives_one_way()) verifier_.compare(bench_.one_way, "after the bandwidth loop");
      publish_(measured_.record);
    }
    if (p_.bidirectional && bench_.pair.role() != Role::alone) {
      bidirectional();
      verifier_.compare(bench_.loops, "after the bidirectional loop");
    }
    phase("verification");
    verifier_.exchange_checked_messages();
    std::tie(measured_.verified, measured_.error) = verifier_.outcome();
    return std::move(measured_);
  }

 private:
  void phase(std::string_view what) {
    bench_.pair.rendezvous().phase(
        fmt::format("{} {}: {}", to_string(p_.api), spaced_size(p_.bytes), what));
  }

  // Who has the payload in the end: of get, who asked for it.
  bool receives_one_way() const {
    const auto role = bench_.pair.role();
    return role == Role::alone || (p_.api == Api::get) == (role == Role::lead);
  }

  void use(Loops& loops, int window, bool many_sends) {
    auto buffers = bench_.buffers(p_.bytes, window, many_sends);
    if (p_.buffers == Buffers::cold) {
      const auto room = std::min(bench_.send.size(), bench_.receive.size());
      buffers.places =
          std::bit_floor(room / LinkBuffers::place_bytes(std::max<std::size_t>(p_.bytes, 1)));
      push_out_of_caches(bench_.send);
      push_out_of_caches(bench_.receive);
    }
    loops.use(buffers);
  }

  // By reading all of it, which is more than they hold: what was used last, the first places, goes.
  static void push_out_of_caches(const Buffer& buffer) {
    constexpr std::size_t line = 64;
    const volatile auto* bytes = buffer.data();
    for (std::size_t at = 0; at < buffer.size(); at += line) static_cast<void>(bytes[at]);
  }

  std::uint64_t agree(std::uint64_t value) {
    return bench_.pair.from_lead(value, progress_).get<std::uint64_t>();
  }

  std::uint64_t threads() const { return static_cast<std::uint64_t>(p_.threads); }
  std::uint64_t of_all_threads(std::uint64_t count) const { return threads() * count; }

  double seconds(std::uint64_t ticks) const { return bench_.clock.us(ticks) * 1e-6; }
  double share(double part) const {
    return static_cast<double>(p_.time_per_launch.count()) * 1e-9 * part;
  }

  // Ways of a message in a round trip: a rank alone has no way back, and what get and atomic
  // operations take is one time with its answer.
  double ways() const {
    return bench_.pair.role() == Role::alone || p_.api == Api::get || is_atomic(p_.api) ? 1.0 : 2.0;
  }

  double timed_round_trips(std::uint64_t count) {
    return seconds(bench_.loops.round_trips(count, nullptr));
  }

  // Doubles the count until the warm-up's time or ucx_perftest's 10,000 iterations are spent;
  // returns the seconds of one iteration, the least seen: a preemption must not shorten what
  // follows.
  double warm_up() {
    constexpr std::uint64_t most = 10'000;
    const double limit = std::clamp(share(0.1), 1e-3, 0.1);
    double spent = 0;
    double iteration_s = std::numeric_limits<double>::max();
    auto& done = measured_.record.warmup_iterations;
    for (std::uint64_t count = 1; count != 0;) {
      const auto took = timed_round_trips(count);
      spent += took;
      done += count;
      iteration_s = std::min(iteration_s, took / static_cast<double>(count));
      const bool enough = spent >= limit || done + 2 * count > most;
      count = agree(enough ? 0 : 2 * count);
    }
    return iteration_s;
  }

  void first_message() {
    use(bench_.loops, 1, false);
    phase("first message");
    bench_.loops.meet();
    measured_.record.cold.first_message_us = timed_round_trips(1) * 1e6 / ways();
  }

  void latency() {
    auto& record = measured_.record;
    double iteration_s = *record.cold.first_message_us * 1e-6 * ways();
    if (p_.warmup_runs > 0) phase("warm-up");
    for (int run = 0; run < p_.warmup_runs; ++run) iteration_s = warm_up();

    phase("latency");
    if (bench_.duet != nullptr) return latency_in_duet(iteration_s);
    record.iterations = agree(p_.iterations.value_or(iterations_in(share(0.3), iteration_s)));
    const bool cross_check = p_.bytes <= cross_checked_bytes && threads() == 1;
    const auto parts = cross_check ? std::min(chunks, record.iterations) : 1;

    // Touched here, so that storing a stamp is never a page fault.
    std::vector<std::uint64_t> stamps(of_all_threads(record.iterations + parts), 0);
    std::vector<double> timed_us;
    std::vector<double> untimed_us;
    std::vector<double> latency_us;
    latency_us.reserve(of_all_threads(record.iterations));
    bench_.loops.meet();
    auto* next = stamps.data();
    for (std::uint64_t part = 0; part < parts; ++part) {
      const auto count = record.iterations * (part + 1) / parts - record.iterations * part / parts;
      bench_.loops.round_trips(count, next);
      if (cross_check) {
        timed_us.push_back(bench_.clock.us(next[count] - next[0]) / static_cast<double>(count));
        untimed_us.push_back(timed_round_trips(count) * 1e6 / static_cast<double>(count));
      }
      add_times(latency_us, {next, of_all_threads(count + 1)}, ways());
      next += of_all_threads(count + 1);
    }
    record.iterations = of_all_threads(record.iterations);
    keep_times("latency_us", std::move(latency_us), ways());
    if (cross_check) {
      record.overheads["timed_mean_us"] = median(timed_us) / ways();
      record.overheads["untimed_mean_us"] = median(untimed_us) / ways();
    }
  }

  // A put that its origin knows to be done: with the flush. Fewer, since each takes longer.
  void completion() {
    phase("completion");
    const auto some = std::max<std::uint64_t>(measured_.record.iterations / threads() / 4, 1);
    const auto count = p_.iterations.value_or(some);
    std::vector<std::uint64_t> stamps(of_all_threads(count + 1), 0);
    bench_.loops.meet();
    bench_.loops.one_sided()->completions(count, stamps.data());
    if (!bench_.pair.leads()) return;
    std::vector<double> completion_us;
    completion_us.reserve(of_all_threads(count));
    add_times(completion_us, stamps, 1);
    keep_times("completion_us", std::move(completion_us), 1);
  }

  // In us, each divided by `ways`. Of several threads only what none of them did alone.
  void add_times(std::vector<double>& times_us, std::span<const std::uint64_t> stamps,
                 double ways) const {
    for (const auto ticks : overlapping_iterations(stamps, p_.threads)) {
      times_us.push_back(bench_.clock.us(ticks) / ways);
    }
  }

  // Nothing where threads had no iteration in common.
  void keep_times(const std::string& metric, std::vector<double> times_us, double ways) {
    if (times_us.empty()) return;
    measured_.record.samples[metric] =
        make_samples(std::move(times_us), kept_samples, bench_.clock.step_ns() * 1e-3 / ways);
  }

  PlannedBlocks blocks_of(const char* metric, double iteration_s, double part,
                          std::uint64_t least) {
    const auto what = fmt::format("{}/{}/{}", to_string(p_.api), p_.bytes, metric);
    return plan_blocks(*bench_.duet, what, iteration_s,
                       {.time_s = share(part), .least = least, .exactly = p_.iterations},
                       [this](std::uint64_t value) { return agree(value); });
  }

  void latency_in_duet(double iteration_s) {
    auto& record = measured_.record;
    constexpr std::uint64_t least = 20;
    const auto planned = blocks_of("latency_us", iteration_s, 0.4, least);
    bench_.loops.meet();
    std::vector<double> values;
    bench_.duet->blocks(planned.quads, [&] {
      const auto count = planned.iterations;
      timed_round_trips(iterations_left_out(count));
      const auto parts = std::clamp(count / 2, std::uint64_t{1}, chunks);
      std::vector<double> times_us;
      for (std::uint64_t part = 0; part < parts; ++part) {
        const auto of_part = count * (part + 1) / parts - count * part / parts;
        times_us.push_back(timed_round_trips(of_part) * 1e6 / static_cast<double>(of_part));
      }
      bench_.loops.flush();
      values.push_back(median(std::move(times_us)) / ways());
    });
    record.iterations = planned.iterations * values.size();
    keep_blocks(record, *bench_.duet, "latency_us", planned, std::move(values));
  }

  // Messages in `part` of the time, after an uncounted stretch that doubles until it takes a tenth
  // of that: connections, congestion windows and unexpected-message queues are then as warm as they
  // get. Timed until the follower has everything: what a sender sees alone is too short.
  template <typename Stretch>
  std::uint64_t plan_messages(double part, Stretch stretch) {
    const auto first = p_.bytes >= (4U << 20U) ? std::min(4, p_.window) : p_.window;
    auto count = agree(p_.iterations.value_or(static_cast<std::uint64_t>(first)));
    double iteration_s = std::numeric_limits<double>::max();
    for (;;) {
      const auto start = bench_.clock.ticks();
      stretch(count);
      const auto took = seconds(bench_.clock.ticks() - start);
      if (p_.iterations) return count;
      const bool warm = took >= share(part) * 0.1 || 2 * count > most_iterations;
      iteration_s = std::min(iteration_s, took / static_cast<double>(count));
      const auto total = std::clamp(std::ceil(share(part) / std::max(iteration_s, 1e-9)), 2.0,
                                    static_cast<double>(most_iterations));
      count = agree(warm ? static_cast<std::uint64_t>(total) : 2 * count);
      if (agree(warm) != 0) return count;
    }
  }

  using Rate = std::optional<double>;  // messages a second; none where the time was too short

  // Of the pair's other side, on the lead.
  Rate of_follow(const Rate& mine) {
    const auto rate = bench_.pair.from_follow(number_or_null(mine), progress_);
    return rate.is_null() ? std::nullopt : Rate(rate.get<double>());
  }

  // On the lead, where both are known, what the sender and the receiver saw. Readiness and the end
  // are said over the rendezvous, since the receiver never sends on this connection.
  std::pair<Rate, Rate> stream(std::uint64_t count) {
    bench_.pair.from_follow("ready", progress_);
    const auto ticks = bench_.one_way.one_way(count);
    const auto mine = bench_.clock.per_s(static_cast<double>(of_all_threads(count)), ticks);
    return {mine, of_follow(mine)};
  }

  using Stream = std::function<std::uint64_t(std::uint64_t messages)>;  // in how many ticks

  // Of one message, here and now: the least of some streams, which have an eighth of `messages`.
  double least_s(std::uint64_t messages, const Stream& stream) {
    constexpr std::uint64_t streams = 4;
    const auto some = std::max<std::uint64_t>(1, messages / 8 / streams);
    double least = std::numeric_limits<double>::max();
    for (std::uint64_t at = 0; at < streams; ++at) {
      least = std::min(least, seconds(stream(some)) / static_cast<double>(some));
    }
    return least;
  }

  // Messages a second by block, on the lead: the median of some streams, since one that is
  // interrupted says nothing. Of a stream the slower end's: a receiver that did not run while it
  // came finds all of it at once. Empty where a stream was too short for the clock.
  std::vector<double> rates_in_duet(const char* metric, double part, double message_s,
                                    const Stream& stream) {
    constexpr std::uint64_t most_streams = 4;
    constexpr double too_short = std::numeric_limits<double>::max();
    const auto least = static_cast<std::uint64_t>(std::max(20, p_.window));
    planned_ = blocks_of(metric, message_s, part, 2 * least);
    const auto streams = std::clamp(planned_.iterations / least, std::uint64_t{1}, most_streams);
    std::vector<double> mine;
    bench_.duet->blocks(planned_.quads, [&] {
      const auto count = planned_.iterations;
      stream(iterations_left_out(count));
      for (std::uint64_t at = 0; at < streams; ++at) {
        const auto messages = count * (at + 1) / streams - count * at / streams;
        const auto ticks = stream(messages);
        const auto rate = bench_.clock.per_s(static_cast<double>(messages), ticks);
        mine.push_back(rate.value_or(too_short));
      }
    });
    const auto theirs = bench_.pair.from_follow(mine, progress_).get<std::vector<double>>();
    std::vector<double> rates;
    for (std::size_t at = 0; at < mine.size(); at += streams) {
      std::vector<double> of_block;
      for (auto i = at; i < at + streams; ++i) of_block.push_back(std::min(mine[i], theirs[i]));
      rates.push_back(median(std::move(of_block)));
      if (rates.back() >= too_short) return {};
    }
    return rates;
  }

  void keep_rates(const char* metric, std::vector<double> rates, double unit) {
    if (rates.empty()) return;
    for (auto& rate : rates) rate *= unit;
    keep_blocks(measured_.record, *bench_.duet, metric, planned_, std::move(rates));
  }

  void bandwidth_in_duet(double part) {
    auto& record = measured_.record;
    const Stream one_way = [this](std::uint64_t messages) {
      // The follower waits for the first message, and has received everything.
      bench_.duet->meet(bench_.pair.peer(), bench_.pair.role() == Role::lead);
      return bench_.one_way.one_way(messages);
    };
    const auto message_s = least_s(record.messages, one_way);
    const auto rates = rates_in_duet("bandwidth_GBps", part, message_s, one_way);
    record.messages = planned_.iterations * 2 * planned_.quads.size();
    if (!rates.empty()) record.samples["message_rate_per_s"] = samples_of_blocks(rates);
    keep_rates("bandwidth_GBps", rates, gigabytes());
  }

  void bidirectional_in_duet(std::uint64_t count) {
    const Stream both_ways = [this](std::uint64_t messages) {
      const auto ticks = bench_.loops.both_ways(messages);
      bench_.loops.flush();
      return ticks;
    };
    const auto message_s = least_s(count, both_ways);
    constexpr const char* metric = "bandwidth_bidirectional_GBps";
    keep_rates(metric, rates_in_duet(metric, 0.2, message_s, both_ways), 2 * gigabytes());
  }

  void bandwidth() {
    auto& record = measured_.record;
    phase("bandwidth");
    use(bench_.one_way, p_.window, true);
    const auto part = p_.bidirectional ? 0.2 : 0.3;
    record.messages = plan_messages(part, [&](std::uint64_t count) { stream(count); });
    if (bench_.duet != nullptr) return bandwidth_in_duet(part);
    // One figure for the whole stream: messages arrive in bursts (a socket's buffer at a time), so
    // the rate of any part of it would be of the bursts.
    auto [sending, receiving] = stream(record.messages);
    record.messages = of_all_threads(record.messages);
    // A thread, or a second endpoint, may begin to look after messages have come.
    if (threads() > 1 || p_.endpoints > 1) receiving = the_less(sending, receiving);
    const bool answered = p_.api == Api::get || is_atomic(p_.api);
    keep_one("message_rate_per_s", answered ? sending : receiving);
    if (is_atomic(p_.api)) return;
    keep_one("bandwidth_GBps", answered ? sending : receiving, gigabytes());
    if (!answered) keep_one("bandwidth_sender_GBps", sending, gigabytes());
  }

  void bidirectional() {
    phase("bidirectional bandwidth");
    use(bench_.loops, p_.window, true);
    const auto count =
        plan_messages(0.2, [&](std::uint64_t messages) { bench_.loops.both_ways(messages); });
    if (bench_.duet != nullptr) return bidirectional_in_duet(count);
    const auto ticks = bench_.loops.both_ways(count);
    const auto mine = bench_.clock.per_s(static_cast<double>(of_all_threads(count)), ticks);
    keep_one("bandwidth_bidirectional_GBps", the_less(mine, of_follow(mine)), 2 * gigabytes());
  }

  static Rate the_less(const Rate& one, const Rate& other) {
    return one && other ? std::min(one, other) : std::nullopt;
  }

  double gigabytes() const { return static_cast<double>(p_.bytes) * 1e-9; }

  void keep_one(const std::string& metric, const Rate& rate, double unit = 1) {
    if (rate) measured_.record.samples[metric] = make_samples({*rate * unit}, kept_samples);
  }

  Bench bench_;
  const std::function<void(const LaunchRecord&)>& publish_;
  const Parameters& p_;
  const Rendezvous::Progress& progress_;
  Verifier verifier_;
  Measured measured_;
  PlannedBlocks planned_;  ///< of the bandwidth that is measured in a duet
};

}  // namespace

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
  return Measurement(bench, parameters, publish).run();
}

}  // namespace ucxbench::pingpong
