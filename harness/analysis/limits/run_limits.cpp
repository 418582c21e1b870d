#include "harness/analysis/limits/run_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "harness/analysis/limits/calibration.hpp"
#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/limits/class_rates.hpp"
#include "harness/analysis/limits/gpu_pairs.hpp"
#include "harness/analysis/limits/host_limits.hpp"
#include "harness/analysis/limits/limits.hpp"
#include "harness/analysis/limits/network_pairs.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Rounding of the shares' sums must not tell rows apart.
std::optional<double> rounded_share(const std::optional<double>& GBps) {
  constexpr double digits = 1e4;
  return GBps ? std::optional(std::round(*GBps * digits) / digits) : std::nullopt;
}

/// What is said of a pair.
struct KnownPair {
  GpuPair of;
  Json* pair;                         ///< in Case::pairs
  std::optional<std::size_t> flow{};  ///< in the list of flows; empty where its path is not known
  FlowLimit expected{};               ///< by NVLinks, or else PCIe
  std::optional<double> share{};      ///< the same, GB/s, where all pairs were under way
};

/// By NVLinks, or else PCIe; what each has of them with the others, if `all` were under way.
void expect(std::vector<KnownPair>& pairs, const Graph& graph, bool all) {
  std::vector<Flow> flows;
  for (const auto& known : pairs) {
    flows.push_back({.from = known.of.from, .to = known.of.to});
    // There is but one way to another host.
    if (known.of.flow) flows.back().rails = known.of.flow->rails;
  }
  const auto limits = limits_of(graph, flows);
  const auto shares = fair_shares(flows, limits);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].expected = limits.flows[i];
    if (all) pairs[i].share = rounded_share(shares[i]);
  }
}

/// What pairs have in common, but for the resource, which is the first one's.
struct LimitRow {
  Json row;
  std::vector<const Json*> pairs{};  ///< in Case::pairs
};

class LimitTable {
 public:
  LimitTable(const Graph& graph, const Limits& limits) : graph_(graph), limits_(limits) {}

  void add(const KnownPair& known) {
    auto& pair = *known.pair;
    const auto limit = known.flow ? limits_.flows[*known.flow] : FlowLimit{};
    pair["class"] = to_string(class_between(graph_, known.of.from, known.of.to));
    pair["limit_GBps"] = number_or_null(limit.alone_GBps);
    if (known.share) pair["share_GBps"] = *known.share;
    const auto* by = limit.alone_by ? &limits_.resources[*limit.alone_by] : nullptr;
    Json row = {{"class", pair["class"]},
                {"path", pair["path"]},
                {"GBps", pair["limit_GBps"]},
                {"complete", known.flow && limit.complete},
                {"source", by != nullptr ? Json("specification") : Json()},
                {"detail", by != nullptr ? Json(by->source + side_by_side(known)) : Json()},
                {"expected_GBps", number_or_null(known.expected.alone_GBps)},
                {"share_GBps", number_or_null(known.share)}};
    if (row["GBps"].is_null() && row["expected_GBps"].is_null()) return;
    const auto [found, added] = rows_.emplace(row.dump(), LimitRow{row});
    auto& [same, pairs] = found->second;
    if (added) same["resource"] = by != nullptr ? Json(by->name) : Json();
    pairs.push_back(&pair);
  }

  Json to_json(const Case& of) const {
    Json list = Json::array();
    for (const auto& [key, entry] : rows_) {
      list.push_back(entry.row);
      list.back()["pairs"] = entry.pairs.size();
      put_class_rates(of, entry.pairs, list.back());
    }
    return list;
  }

 private:
  std::string side_by_side(const KnownPair& known) const {
    const auto rails = known.of.flow ? known.of.flow->rails : std::nullopt;
    if (!rails || std::max(rails->out.size(), rails->in.size()) < 2) return "";
    const auto names = [&](const std::vector<std::size_t>& nics) {
      std::vector<std::string> all;
      for (const auto nic : nics) all.push_back(own_name(graph_.nodes[nic]));
      return join(all, " and ");
    };
    return fmt::format("; by {} to {}", names(rails->out), names(rails->in));
  }

  const Graph& graph_;
  const Limits& limits_;
  std::map<std::string, LimitRow> rows_;
};

/// What the links allow all ranks together, where the way of every byte is known.
void add_exchange_limit(Case& of, const std::vector<Flow>& flows, const Limits& limits) {
  const auto GBps = together_GBps(flows, limits);
  if (flows.size() != of.pairs.size() || !GBps) return;
  of.exchange["limit_GBps"] = *GBps;
  of.exchange["limited_by"] = limits.resources[*limits.bottleneck].name;
}

/// Of which the run's topology is.
bool of_first_host(const Graph& graph, const SharedResource& resource) {
  const auto here = [&](std::size_t node) {
    return node == Node::none || graph.nodes[node].host == graph.nodes.front().host;
  };
  return here(resource.from) && here(resource.to);
}

/// How much crosses each link, GB/s, while all are under way (`all`), or one pair alone: the most.
Json link_loads(const Graph& graph, const std::vector<Flow>& flows, const Limits& limits, bool all,
                double GBps_per_load) {
  std::vector<double> used(limits.resources.size());
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const auto& [index, part] : limits.flows[f].uses) {
      const auto load = part * flows[f].bytes * GBps_per_load;
      used[index] = all ? used[index] + load : std::max(used[index], load);
    }
  }
  const auto name = [&](std::size_t node) {
    return node == Node::none ? Json("NVSwitches") : Json(graph.nodes[node].name);
  };
  Json list = Json::array();
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto& resource = limits.resources[i];
    if (!resource.link_class || used[i] <= 0 || !of_first_host(graph, resource)) continue;
    list.push_back({{"from", name(resource.from)},
                    {"to", name(resource.to)},
                    {"class", to_string(*resource.link_class)},
                    {"GBps", number_or_null(resource.GBps)},
                    {"used_GBps", used[i]}});
  }
  return list;
}

void name_pairs_between_hosts(Case& of, const std::map<int, std::string>& hosts) {
  const auto host = [&](const Json& pair, const char* end) {
    const auto found = hosts.find(pair.at(end).get<int>());
    return found == hosts.end() ? std::string() : found->second;
  };
  for (auto& pair : of.pairs) {
    const auto from = host(pair, "src");
    const auto to = host(pair, "dst");
    if (!from.empty() && !to.empty() && from != to)
      pair["class"] = to_string(PathClass{.distance = Distance::net});
  }
}

/// GB/s of a flow of one "byte", by what load_of() says; 0 where that is not known.
double GBps_per_load(const Case& of, const std::vector<Flow>& flows) {
  if (!is_exchange(of)) return 1;
  const auto found = of.metrics.find("exchange_GBps");
  double bytes = 0;
  for (const auto& flow : flows) bytes += flow.bytes;
  const bool known = found != of.metrics.end() && found->second.quantiles.p50 && bytes > 0;
  return known ? *found->second.quantiles.p50 / bytes : 0;
}

}  // namespace

void add_limits(Case& of, const Result& result, const Graph& graph) {
  name_pairs_between_hosts(of, hosts_of_ranks(result, of));
  of.limits = Json::array();
  of.links = Json::array();
  if (!at_place(of, "cuda")) add_host_limits(of, result);
  auto gpus = gpu_pairs(of, result, graph);
  std::ranges::move(network_pairs(of, result, graph), std::back_inserter(gpus));
  if (gpus.empty() && !at_place(of, "cuda")) return;
  std::vector<KnownPair> pairs;
  std::vector<Flow> flows;
  for (const auto& gpu_pair : gpus) {
    auto& pair = of.pairs[gpu_pair.pair];
    pair["path"] = text_or_null(gpu_pair.carrier);
    pairs.push_back({gpu_pair, &pair});
    if (!gpu_pair.flow) continue;
    pairs.back().flow = flows.size();
    flows.push_back(*gpu_pair.flow);
  }
  // What other pairs take than the known ones, nobody can tell.
  const bool all = all_at_once(of);
  expect(pairs, graph, all && pairs.size() == of.pairs.size());
  const auto limits = limits_of(graph, flows);
  LimitTable table(graph, limits);
  for (const auto& known : pairs) table.add(known);
  for (auto& row : table.to_json(of)) of.limits.push_back(std::move(row));
  if (is_exchange(of)) add_exchange_limit(of, flows, limits);
  add_calibrated_links(of, gpus, graph, all);
  // What pairs of unknown ways add, nobody can tell: then all at once is no load to show.
  if (all && flows.size() != of.pairs.size()) return;
  of.links = link_loads(graph, flows, limits, all, GBps_per_load(of, flows));
}

void add_limits(Result& result) {
  auto graph = graph_of_hosts(result);
  calibrate_links(graph, result);
  // The first host's come first, which are the run's.
  for (std::size_t at = 0; !graph.nodes.empty() && at < result.topology.at("links").size(); ++at) {
    auto& link = result.topology["links"][at];
    link["calibrated_GBps"] = number_or_null(graph.links[at].calibrated_GBps);
    link["calibrated_by"] = text_or_null(graph.links[at].calibrated_by);
  }
  for (auto& of : result.cases) {
    if (!of.launches.empty() && !is_time_sliced(of)) add_limits(of, result, graph);
  }
}

}  // namespace ucxbench
