#include "workloads/common/two_ends.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/hash.hpp"

namespace ucxbench {
namespace {

/// What two ranks say to each other before the times: which clock they read, when they were in the
/// meeting, and how many messages of the two of them each has logged, if it has all.
struct Head {
  std::uint64_t clock, came_ns, left_ns, complete, messages;
};

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

}  // namespace ucxbench
