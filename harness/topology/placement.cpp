#include "harness/topology/placement.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Ranges of successive numbers.
std::vector<std::vector<int>> ranges_of(const std::vector<int>& cpus) {
  std::vector<std::vector<int>> ranges;
  for (const int cpu : cpus) {
    if (ranges.empty() || ranges.back().back() + 1 != cpu) ranges.emplace_back();
    ranges.back().push_back(cpu);
  }
  return ranges;
}

/// The part number `part` of `parts`, none of which is empty.
std::vector<int> part_of(const std::vector<int>& cpus, std::size_t part, std::size_t parts) {
  const auto ranges = ranges_of(cpus);
  const bool all_long = std::ranges::all_of(
      ranges, [&](const std::vector<int>& range) { return range.size() >= parts; });
  std::vector<int> own;
  if (!all_long) {
    for (auto at = part; at < cpus.size(); at += parts) own.push_back(cpus[at]);
    return own;
  }
  for (const auto& range : ranges) {
    const auto begin = range.begin() + static_cast<std::ptrdiff_t>(part * range.size() / parts);
    const auto end = range.begin() + static_cast<std::ptrdiff_t>((part + 1) * range.size() / parts);
    own.insert(own.end(), begin, end);
  }
  return own;
}

std::vector<int> near_cpus(const Graph& graph, const std::optional<std::size_t>& data) {
  return data ? nearest_cpus(graph, *data).value_or(std::vector<int>()) : std::vector<int>();
}

std::set<std::size_t> numas_of_nics(const Graph& graph) {
  std::set<std::size_t> numas;
  for (const auto nic : graph.of_kind(NodeKind::nic)) {
    if (!may_carry(graph, nic)) continue;
    for (auto at = nic; at != Node::none; at = graph.parent_of(at)) {
      if (graph.nodes[at].kind == NodeKind::numa) numas.insert(at);
    }
  }
  return numas;
}

}  // namespace

DataPlaces spread_over_numa(const Graph& graph, std::size_t ranks, bool beside_nics) {
  std::vector<std::size_t> numas;
  for (const auto numa : graph.of_kind(NodeKind::numa)) {
    const auto& cpus = graph.nodes[numa].cpus;
    if (cpus && !cpus->empty()) numas.push_back(numa);
  }
  const auto with_nics = beside_nics ? numas_of_nics(graph) : std::set<std::size_t>();
  const auto without = [&](std::size_t numa) { return !with_nics.contains(numa); };
  if (!std::ranges::all_of(numas, without)) std::erase_if(numas, without);
  DataPlaces places(ranks);
  for (std::size_t rank = 0; rank < ranks && !numas.empty(); ++rank) {
    places[rank] = numas[rank / 2 % numas.size()];
  }
  return places;
}

bool may_carry(const Graph& graph, std::size_t nic) {
  const auto& state = graph.nodes[nic].state;
  if (!state.empty()) return state == "ACTIVE";
  return std::ranges::all_of(graph.of_kind(NodeKind::nic),
                             [&](std::size_t other) { return graph.nodes[other].state.empty(); });
}

DataPlaces nearest_nic_each(const Graph& graph, const DataPlaces& data,
                            const std::function<bool(std::size_t)>& usable) {
  auto nics = graph.of_kind(NodeKind::nic);
  std::erase_if(nics, [&](std::size_t nic) { return !usable(nic); });
  std::map<std::size_t, std::size_t> ranks_of;
  DataPlaces nearest(data.size());
  for (std::size_t rank = 0; rank < data.size(); ++rank) {
    if (!data[rank]) continue;
    auto best = Distance::unknown;
    for (const auto nic : nics) {
      const auto distance = class_between(graph, *data[rank], nic).distance;
      const bool less_used =
          distance == best && nearest[rank] && ranks_of[nic] < ranks_of[*nearest[rank]];
      if (distance >= best && !less_used) continue;
      best = distance;
      nearest[rank] = nic;
    }
    if (nearest[rank]) ++ranks_of[*nearest[rank]];
  }
  return nearest;
}

std::vector<std::vector<int>> cpus_near(const Graph& graph, const DataPlaces& data) {
  std::map<std::vector<int>, std::vector<std::size_t>> ranks_by_cpus;
  for (std::size_t rank = 0; rank < data.size(); ++rank) {
    ranks_by_cpus[near_cpus(graph, data[rank])].push_back(rank);
  }
  std::vector<std::vector<int>> own(data.size());
  for (const auto& [cpus, ranks] : ranks_by_cpus) {
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      own[ranks[at]] = cpus.size() < ranks.size() ? cpus : part_of(cpus, at, ranks.size());
    }
  }
  return own;
}

std::optional<std::vector<std::vector<int>>> bind_near(const Graph& graph, const DataPlaces& data,
                                                       const std::vector<int>& allowed,
                                                       int threads) {
  const auto bound_to = [&](std::size_t each) -> std::optional<std::vector<std::vector<int>>> {
    std::set<int> taken;
    std::vector<std::vector<int>> bound(data.size());
    for (std::size_t rank = 0; rank < data.size(); ++rank) {
      const auto near = near_cpus(graph, data[rank]);
      for (const int cpu : allowed) {
        if (bound[rank].size() == each) break;
        if (std::ranges::binary_search(near, cpu) && taken.insert(cpu).second) {
          bound[rank].push_back(cpu);
        }
      }
      if (bound[rank].size() < each) return std::nullopt;
    }
    return bound;
  };
  auto bound = bound_to(static_cast<std::size_t>(threads));
  return bound ? bound : bound_to(1);
}

}  // namespace ucxbench
