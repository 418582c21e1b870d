// What is known of messages from their two ends.

#include <algorithm>
#include <utility>

#include "harness/core/clock.hpp"
#include "harness/core/statistics.hpp"
#include "workloads/common/two_ends.hpp"

namespace ucxbench {
namespace {

// Whether less than half of the longest time is open, of which this much is certain: from `from`
// until `until`.
bool known(std::uint64_t longest_ns, std::uint64_t from, std::uint64_t until) {
  return from < until && longest_ns < 2 * (until - from);
}

}  // namespace

void TimedMessages::add(const TwoEnds& received) {
  const auto& own = received.own;
  const bool large = own.bytes >= least_bytes_;
  bytes_ += own.bytes;
  ++messages_;
  if (large) ++large_;
  const auto when = received.longest();
  if (when.end_ns <= when.begin_ns) return;
  const auto longest_ns = when.end_ns - when.begin_ns;
  const auto sent_ns = received.other_latest_ns;
  if (known(longest_ns, sent_ns, when.end_ns)) {
    const auto shortest_ns = when.end_ns - sent_ns;
    deliveries_us_.push_back(static_cast<double>(longest_ns + shortest_ns) / 2 * 1e-3);
  }
  if (known(longest_ns, std::max(own.posted_ns, sent_ns), when.end_ns)) {
    timed_.push_back({when, own.bytes});
  }
}

std::optional<TimedMessages::Moved> TimedMessages::moved() const {
  std::vector<Stretch> stretches;
  std::uint64_t bytes = 0;
  for (const auto& message : timed_) {
    stretches.push_back(message.when);
    bytes += message.bytes;
  }
  if (bytes == 0 || bytes < bytes_ / 2) return std::nullopt;
  return Moved{bytes, sum_ns(union_of(std::move(stretches)))};
}

std::optional<double> TimedMessages::Moved::goodput_GBps(double clock_step_ns) const {
  const auto rate =
      Clock::rate_per_s(static_cast<double>(bytes), static_cast<double>(ns), clock_step_ns);
  return rate ? std::optional(*rate * 1e-9) : std::nullopt;
}

std::optional<double> TimedMessages::goodput_GBps(double clock_step_ns) const {
  const auto all = moved();
  return all ? all->goodput_GBps(clock_step_ns) : std::nullopt;
}

std::vector<double> TimedMessages::quartiles_GBps(double clock_step_ns) const {
  std::vector<double> rates;
  for (const auto& [when, bytes] : timed_) {
    if (bytes < least_bytes_) continue;
    const auto rate =
        Clock::rate_per_s(static_cast<double>(bytes),
                          static_cast<double>(when.end_ns - when.begin_ns), clock_step_ns);
    if (rate) rates.push_back(*rate * 1e-9);
  }
  if (rates.empty() || 2 * rates.size() < large_) return {};
  std::ranges::sort(rates);
  return {quantile_of_sorted(rates, 0.25), quantile_of_sorted(rates, 0.5),
          quantile_of_sorted(rates, 0.75)};
}

std::optional<double> TimedMessages::delivery_us() const {
  if (deliveries_us_.empty() || 2 * deliveries_us_.size() < messages_) return std::nullopt;
  return median(deliveries_us_);
}

}  // namespace ucxbench
