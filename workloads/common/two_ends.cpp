#include "workloads/common/two_ends.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/hash.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

/// What two ranks say to each other before the times: which clock they read, when they were in the
/// meeting, and how many messages of the two of them each has logged, if it has all.
struct Head {
  std::uint64_t clock, came_ns, left_ns, complete, messages;
};

// Whether less than half of the longest time is open, of which this much is certain: from `from`
// until `until`.
bool known(std::uint64_t longest_ns, std::uint64_t from, std::uint64_t until) {
  return from < until && longest_ns < 2 * (until - from);
}

// Equal at both ends: what the lower rank has sent comes first. Messages of one label keep their
// order, in which they match.
void sort_alike(std::span<const Transfer> records, std::vector<std::size_t>& places) {
  std::ranges::stable_sort(places, {}, [&](std::size_t at) {
    const auto& record = records[at];
    const bool lower_sent = (record.kind == Transfer::send) == (record.rank < record.peer);
    return std::pair(!lower_sent, record.label);
  });
}

}  // namespace

Stretch TwoEnds::under_way() const {
  const auto begin = std::max(own.posted_ns, other_earliest_ns);
  return {begin, std::max(begin, own.completed_ns)};
}

std::vector<TwoEnds> two_ends_of(Communicator& comm, std::span<const Transfer> records,
                                 bool complete, const Met& met) {
  std::vector<std::vector<std::size_t>> by_peer(static_cast<std::size_t>(comm.size()));
  for (std::size_t at = 0; at < records.size(); ++at) {
    if (records[at].kind != Transfer::phase) by_peer[records[at].peer].push_back(at);
  }
  const auto own_clock = fnv1a(clock_identity());
  std::vector<std::vector<std::uint64_t>> heads;
  for (const auto& places : by_peer) {
    heads.push_back({own_clock, met.came_ns, met.left_ns, complete ? 1U : 0U, places.size()});
  }
  const auto theirs = all_to_all(comm, heads);
  const auto head_of = [&](std::size_t peer) {
    const auto& words = theirs[peer];
    return Head{words[0], words[1], words[2], words[3], words[4]};
  };
  std::vector<std::vector<std::uint64_t>> posted(by_peer.size());
  for (std::size_t peer = 0; peer < by_peer.size(); ++peer) {
    sort_alike(records, by_peer[peer]);
    const auto head = head_of(peer);
    if (!complete || head.complete == 0 || head.messages != by_peer[peer].size()) continue;
    for (const auto at : by_peer[peer]) posted[peer].push_back(records[at].posted_ns);
  }
  const auto other_posted = all_to_all(comm, posted);
  std::vector<TwoEnds> all;
  for (std::size_t peer = 0; peer < by_peer.size(); ++peer) {
    const auto head = head_of(peer);
    const Met other_met{.came_ns = head.came_ns, .left_ns = head.left_ns};
    const TimeAxis axis(head.clock == own_clock, std::array{met, other_met});
    const auto own_zero = axis.at(met.came_ns, met);
    const auto own_ns = [&](double since_came_ns) {
      return met.came_ns + static_cast<std::uint64_t>(std::llround(since_came_ns));
    };
    for (std::size_t nth = 0; nth < by_peer[peer].size(); ++nth) {
      auto& message = all.emplace_back(TwoEnds{.own = records[by_peer[peer][nth]]});
      if (posted[peer].empty()) continue;
      const auto other = axis.at(other_posted[peer][nth], other_met);
      message.other_earliest_ns = own_ns(other.earliest_ns - own_zero.latest_ns);
      message.other_latest_ns = own_ns(other.latest_ns - own_zero.earliest_ns);
    }
  }
  return all;
}

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
