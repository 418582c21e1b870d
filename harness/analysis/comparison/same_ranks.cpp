#include "harness/analysis/comparison/same_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

using Place = std::array<std::string, 3>;  ///< the GPU, the network devices, the processors

/// Which of them count. What is alike in more of them comes first: one of them may have been
/// changed on purpose.
constexpr std::array<std::array<bool, 3>, 6> kinds_of_place = {{{true, true, true},
                                                                {true, false, true},
                                                                {true, true, false},
                                                                {true, false, false},
                                                                {false, false, true},
                                                                {false, true, false}}};

struct PlacedNumber {
  int rank = 0;
  Place place;
};

using HostsWithRanks = std::map<std::string, std::vector<PlacedNumber>>;

std::string texts_at(const Json& rank, const char* name) {
  const auto found = rank.find(name);
  return found == rank.end() ? "" : join(texts_of(*found), ",");
}

/// Ascending on each host; none where a rank does not say its host.
std::optional<HostsWithRanks> ranks_by_host(const std::vector<Json>& ranks) {
  HostsWithRanks hosts;
  for (const auto& rank : ranks) {
    const auto number = number_at(rank, "rank");
    const auto host = text_at(rank, "/host", "");
    if (!number || !(*number >= 0 && *number < 1e6) || host.empty()) return std::nullopt;
    const auto gpu = text_at(rank, "/device/uuid", text_at(rank, "/device/pci", ""));
    hosts[host].push_back(
        {static_cast<int>(*number), {gpu, texts_at(rank, "net_devices"), texts_at(rank, "cpus")}});
  }
  for (auto& [host, own] : hosts) std::ranges::sort(own, {}, &PlacedNumber::rank);
  if (hosts.empty()) return std::nullopt;
  return hosts;
}

/// By place; empty where two ranks have one.
std::map<Place, int> by_place(const std::vector<PlacedNumber>& ranks,
                              const std::array<bool, 3>& counts) {
  std::map<Place, int> found;
  for (auto [rank, place] : ranks) {
    for (std::size_t at = 0; at < place.size(); ++at) {
      if (!counts[at]) place[at].clear();
    }
    if (!found.emplace(std::move(place), rank).second) return {};
  }
  return found;
}

/// Ranks that have one place alike are as good as each other.
bool are_alike(const std::vector<PlacedNumber>& ranks) {
  return std::ranges::all_of(
      ranks, [&](const PlacedNumber& of) { return of.place == ranks.front().place; });
}

class Matching {
 public:
  SameRanks done() && { return std::move(same_); }

  void add(int base, int now) {
    same_.new_of.emplace(base, now);
    same_.base_of.emplace(now, base);
  }

  void match_host(const std::string& host, const std::vector<PlacedNumber>& base,
                  const std::vector<PlacedNumber>& now) {
    for (const auto& counts : kinds_of_place) {
      const auto of_base = by_place(base, counts);
      const auto of_new = by_place(now, counts);
      const bool base_has_all = of_base.size() > of_new.size();
      const auto& fewer = base_has_all ? of_new : of_base;
      const auto& more = base_has_all ? of_base : of_new;
      const auto place = [](const auto& entry) { return entry.first; };
      if (fewer.empty() || !std::ranges::includes(more, fewer, {}, place, place)) continue;
      for (const auto& [at, rank] : of_base) {
        if (const auto found = of_new.find(at); found != of_new.end()) add(rank, found->second);
      }
      return;
    }
    for (std::size_t at = 0; at < std::min(base.size(), now.size()); ++at) {
      add(base[at].rank, now[at].rank);
    }
    const bool one_each = base.size() == 1 && now.size() == 1;
    if (!one_each && !(are_alike(base) && are_alike(now))) same_.in_order.insert(host);
  }

  SameRanks& same() { return same_; }

 private:
  SameRanks same_;
};

void match_numbers(Matching& matching, const HostsWithRanks& base, const HostsWithRanks& now) {
  std::set<int> numbers;
  for (const auto& [host, ranks] : base) {
    for (const auto& of : ranks) numbers.insert(of.rank);
  }
  for (const auto& [host, ranks] : now) {
    for (const auto& of : ranks) {
      if (numbers.contains(of.rank)) matching.add(of.rank, of.rank);
    }
  }
}

std::optional<SameRanks::Pair> pair_in(const std::map<int, int>& numbers,
                                       const SameRanks::Pair& pair) {
  const auto src = numbers.find(pair.first);
  const auto dst = numbers.find(pair.second);
  if (src == numbers.end() || dst == numbers.end()) return std::nullopt;
  return SameRanks::Pair(src->second, dst->second);
}

std::string listed(const std::set<std::string>& names) {
  return join({names.begin(), names.end()}, ", ");
}

}  // namespace

std::optional<SameRanks::Pair> SameRanks::in_new(const Pair& of_base) const {
  return by == SameBy::number ? of_base : pair_in(new_of, of_base);
}

std::optional<SameRanks::Pair> SameRanks::in_base(const Pair& of_new) const {
  return by == SameBy::number ? of_new : pair_in(base_of, of_new);
}

SameRanks match_ranks(const std::vector<Json>& base, const std::vector<Json>& now) {
  const auto of_base = ranks_by_host(base);
  const auto of_new = ranks_by_host(now);
  Matching matching;
  auto& same = matching.same();
  if (!of_base || !of_new) {
    same.by = SameBy::number;
    return std::move(matching).done();
  }
  same.several_hosts = of_base->size() > 1 || of_new->size() > 1;
  for (const auto& [host, ranks] : *of_base) {
    if (!of_new->contains(host)) same.base_alone.insert(host);
  }
  for (const auto& [host, ranks] : *of_new) {
    if (!of_base->contains(host)) same.new_alone.insert(host);
  }
  if (same.base_alone.size() == of_base->size()) {
    same.by = SameBy::other_hosts;
    match_numbers(matching, *of_base, *of_new);
    return std::move(matching).done();
  }
  for (const auto& [host, ranks] : *of_base) {
    if (const auto found = of_new->find(host); found != of_new->end()) {
      matching.match_host(host, ranks, found->second);
    }
  }
  return std::move(matching).done();
}

std::vector<std::string> in_words(const SameRanks& same) {
  switch (same.by) {
    case SameBy::number:
      return {
          "pairs are matched by the numbers of their ranks: a run does not say on which hosts "
          "these were"};
    case SameBy::other_hosts:
      return {
          fmt::format("pairs are matched by the numbers of their ranks: the runs have no host "
                      "in common ({} -> {})",
                      listed(same.base_alone), listed(same.new_alone))};
    case SameBy::place:
      break;
  }
  std::vector<std::string> lines;
  const auto add_alone = [&](const char* run, const std::set<std::string>& hosts) {
    if (hosts.empty()) return;
    lines.push_back(fmt::format("the {} run alone has ranks on {}: their pairs are not compared",
                                run, listed(hosts)));
  };
  add_alone("base", same.base_alone);
  add_alone("new", same.new_alone);
  if (!same.in_order.empty()) {
    lines.push_back(fmt::format(
        "on {} pairs are matched by the order of the ranks: their GPUs, network devices and "
        "processors do not tell which is which",
        listed(same.in_order)));
  }
  return lines;
}

}  // namespace ucxbench
