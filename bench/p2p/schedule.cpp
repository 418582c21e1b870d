#include "bench/p2p/schedule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/run/tournament.hpp"

namespace ucxbench::p2p {
namespace {

/// Both directions, one after the other.
void add_parts(std::optional<int> partner, bool sends_first, std::vector<Part>& parts) {
  Part there;
  Part back;
  if (partner) {
    (sends_first ? there.to : there.from).push_back(*partner);
    (sends_first ? back.from : back.to).push_back(*partner);
  }
  parts.push_back(std::move(there));
  parts.push_back(std::move(back));
}

/// The ranks of each host, hosts in the order of their first ranks.
std::vector<std::vector<int>> ranks_by_host(const std::vector<std::string>& hosts) {
  std::vector<std::vector<int>> ranks;
  std::map<std::string, std::size_t> places;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    const auto place = places.emplace(hosts[static_cast<std::size_t>(rank)], ranks.size());
    if (place.second) ranks.emplace_back();
    ranks[place.first->second].push_back(rank);
  }
  return ranks;
}

std::vector<Part> disjoint_parts(const std::vector<std::string>& hosts, int rank) {
  const auto ranks = ranks_by_host(hosts);
  const auto at = std::ranges::find_if(ranks, [&](const std::vector<int>& those) {
    return std::ranges::binary_search(those, rank);
  });
  const auto& here = *at;
  const int own = static_cast<int>(std::ranges::lower_bound(here, rank) - here.begin());
  const auto most = static_cast<int>(
      std::ranges::max(ranks, {}, [](const auto& those) { return those.size(); }).size());
  std::vector<Part> parts;
  if (ranks.size() > 1) {
    const auto meetings =
        tournament(static_cast<int>(ranks.size()), static_cast<int>(at - ranks.begin()));
    for (int shift = 0; shift < most; ++shift) {
      for (const auto& [host, sends_first] : meetings) {
        std::optional<int> partner;
        if (host < static_cast<int>(ranks.size())) {
          const auto& there = ranks[static_cast<std::size_t>(host)];
          // Whose direction it is shifts forth, the other one back.
          const int number = (own + (sends_first ? shift : most - shift)) % most;
          if (number < static_cast<int>(there.size())) {
            partner = there[static_cast<std::size_t>(number)];
          }
        }
        add_parts(partner, sends_first, parts);
      }
    }
  }
  if (most < 2) return parts;
  // Of hosts with fewer ranks all rest when the largest has not ended.
  const auto meetings = tournament(most, own);
  for (const auto& [number, sends_first] : meetings) {
    std::optional<int> partner;
    if (number < static_cast<int>(here.size())) partner = here[static_cast<std::size_t>(number)];
    add_parts(partner, sends_first, parts);
  }
  return parts;
}

}  // namespace

std::vector<Pair> ordered_pairs(int ranks) {
  std::vector<Pair> pairs;
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src != dst) pairs.push_back({src, dst});
    }
  }
  return pairs;
}

std::vector<Part> parts_of(Concurrent concurrent, const std::vector<std::string>& hosts, int rank) {
  if (concurrent == Concurrent::disjoint) return disjoint_parts(hosts, rank);
  std::vector<Part> parts(1);
  for (const auto& [src, dst] : ordered_pairs(static_cast<int>(hosts.size()))) {
    if (src == rank) parts.back().to.push_back(dst);
    if (dst == rank) parts.back().from.push_back(src);
    if (concurrent == Concurrent::one) parts.emplace_back();
  }
  if (concurrent == Concurrent::one) parts.pop_back();
  return parts;
}

}  // namespace ucxbench::p2p
