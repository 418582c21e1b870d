#include "harness/analysis/run_limits.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "harness/analysis/limits.hpp"
#include "harness/core/statistics.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

using Nodes = std::map<int, std::size_t>;

/// The GPUs of ranks that run on the first host, which the graph is of.
Nodes gpus_of_ranks(const Result& result, const Graph& graph) {
  Nodes nodes;
  const auto hosts = result.machine.value("hosts", Json::array());
  const auto here = hosts.empty() ? Json() : hosts.front().value("name", Json());
  for (const auto& rank : result.ranks) {
    const auto device = rank.value("device", Json());
    if (!device.is_object() || here.is_null() || rank.value("host", Json()) != here) continue;
    const auto pci = device.value("pci", Json());
    if (!pci.is_string()) continue;
    const auto node = graph.find_pci(normal_pci(pci.get<std::string>()));
    if (node != Node::none) nodes[rank.at("rank").get<int>()] = node;
  }
  return nodes;
}

bool between_gpus(const Case& of) {
  return of.parameters.is_object() &&
         of.parameters.value("memory", Json()) == Json::array({"cuda", "cuda"});
}

/// Ranks of a workload exchange all at once, and one record speaks for all of them.
bool is_exchange(const Case& of) { return !of.exchange.empty(); }

/// The transport that carried a pair in every launch, and the NICs of its lanes.
struct Carrier {
  std::string name;
  std::set<std::size_t> nics;
};

void add_nics(const std::vector<std::string>& lanes, const Graph& graph, Carrier& carrier) {
  for (const auto& lane : lanes) {  // "rc_mlx5/mlx5_0:1"
    const auto begin = lane.find('/') + 1;
    const auto node = graph.find_name(lane.substr(begin, lane.find(':', begin) - begin));
    if (node != Node::none && graph.nodes[node].kind == NodeKind::nic) carrier.nics.insert(node);
  }
}

Carrier carrier_of(const Case& of, int src, int dst, const Graph& graph) {
  constexpr double all = 0.99;  // as --require has it
  Carrier carrier;
  for (const auto& record : of.launches) {
    if (!is_exchange(of) && (record.src != src || record.dst != dst)) continue;
    std::string name;
    const auto carried = record.path.value("carried_by", Json::object());
    for (const auto& [member, share] : carried.items()) {
      if (share.is_number() && share.get<double>() >= all) name = member;
    }
    if (name.empty() || (!carrier.name.empty() && name != carrier.name)) return {};
    carrier.name = name;
    add_nics(record.lanes, graph, carrier);
  }
  return carrier;
}

/// The flow of a pair by what carried it; empty where that leaves it open.
std::optional<Flow> flow_of(const Graph& graph, const Carrier& carrier, std::size_t from,
                            std::size_t to) {
  Flow flow{.from = from, .to = to};
  if (carrier.name == "nvlink") return flow;
  if (carrier.name == "tcp" || carrier.name == "shm") {
    flow.via = via_host_memory(graph, from);
    return flow;
  }
  if (carrier.name != "ib") return std::nullopt;
  flow.via = via_nearest_nics(graph, from, to);
  const bool nearest = !flow.via.empty() && carrier.nics == std::set{flow.via.front()};
  return nearest ? std::optional(flow) : std::nullopt;
}

/// Rounding of the shares' sums must not tell rows apart.
std::optional<double> rounded_share(const std::optional<double>& GBps) {
  constexpr double digits = 1e4;
  return GBps ? std::optional(std::round(*GBps * digits) / digits) : std::nullopt;
}

/// A pair whose ranks are on GPUs of the graph.
struct KnownPair {
  Json* pair;
  std::size_t from, to;
  std::optional<std::size_t> flow{};  ///< in the list of flows; empty where its path is not known
  FlowLimit expected{};               ///< by NVLinks, or else PCIe
  std::optional<double> share{};      ///< the same, GB/s, where all pairs were under way
};

/// By NVLinks, or else PCIe; what each has of them with the others, if `all` were under way.
void expect(std::vector<KnownPair>& pairs, const Graph& graph, bool all) {
  std::vector<Flow> flows;
  for (const auto& known : pairs) flows.push_back({.from = known.from, .to = known.to});
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
  std::size_t pairs = 0;
  std::vector<double> rates{};  ///< GB/s, of those that have one
};

class LimitTable {
 public:
  LimitTable(const Graph& graph, const Limits& limits) : graph_(graph), limits_(limits) {}

  void add(const KnownPair& known) {
    auto& pair = *known.pair;
    const auto limit = known.flow ? limits_.flows[*known.flow] : FlowLimit{};
    pair["class"] = to_string(class_between(graph_, known.from, known.to));
    pair["limit_GBps"] = number_or_null(limit.alone_GBps);
    if (known.share) pair["share_GBps"] = *known.share;
    const auto* by = limit.alone_by ? &limits_.resources[*limit.alone_by] : nullptr;
    Json row = {{"class", pair["class"]},
                {"path", pair["path"]},
                {"GBps", pair["limit_GBps"]},
                {"complete", known.flow && limit.complete},
                {"source", by != nullptr ? Json("specification") : Json()},
                {"detail", by != nullptr ? Json(by->source) : Json()},
                {"expected_GBps", number_or_null(known.expected.alone_GBps)},
                {"share_GBps", number_or_null(known.share)}};
    if (row["GBps"].is_null() && row["expected_GBps"].is_null()) return;
    const auto [found, added] = rows_.emplace(row.dump(), LimitRow{row});
    auto& [same, pairs, rates] = found->second;
    if (added) same["resource"] = by != nullptr ? Json(by->name) : Json();
    ++pairs;
    if (const auto rate = pair.value("p50_GBps", Json()); rate.is_number()) {
      rates.push_back(rate.get<double>());
    }
  }

  Json to_json() const {
    Json list = Json::array();
    for (const auto& [key, entry] : rows_) {
      const auto& rates = entry.rates;
      list.push_back(entry.row);
      list.back()["pairs"] = entry.pairs;
      list.back()["min_GBps"] = rates.empty() ? Json() : Json(*std::ranges::min_element(rates));
      list.back()["p50_GBps"] = rates.empty() ? Json() : Json(median(rates));
    }
    return list;
  }

 private:
  const Graph& graph_;
  const Limits& limits_;
  std::map<std::string, LimitRow> rows_;
};

/// What a pair moves, as a flow's bytes: GB/s of p2p; of a workload its part of the exchange.
double load_of(const Case& of, const Json& pair) {
  const auto load = pair.value(is_exchange(of) ? "bytes" : "p50_GBps", Json());
  return load.is_number() ? std::max(load.get<double>(), 0.0) : 0;
}

/// What the links allow all ranks together, where the way of every byte is known.
void add_exchange_limit(Case& of, const std::vector<Flow>& flows, const Limits& limits) {
  double bytes = 0;
  for (const auto& flow : flows) bytes += flow.bytes;
  if (flows.size() != of.pairs.size() || !limits.seconds || *limits.seconds <= 0) return;
  of.exchange["limit_GBps"] = bytes / *limits.seconds / 1e9;
  of.exchange["limited_by"] = limits.resources[*limits.bottleneck].name;
}

/// How much crosses each link, GB/s, while all are under way (`all`), or one pair alone: the most.
Json link_loads(const Graph& graph, const std::vector<Flow>& flows, const Limits& limits, bool all,
                double GBps_per_load) {
  std::vector<double> used(limits.resources.size());
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const auto& [index, part] : limits.flows[f].uses) {
      const auto one = part * flows[f].bytes * GBps_per_load;
      used[index] = all ? used[index] + one : std::max(used[index], one);
    }
  }
  const auto name = [&](std::size_t node) {
    return node == Node::none ? Json("NVSwitches") : Json(graph.nodes[node].name);
  };
  Json list = Json::array();
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto& resource = limits.resources[i];
    if (!resource.link_class || used[i] <= 0) continue;
    list.push_back({{"from", name(resource.from)},
                    {"to", name(resource.to)},
                    {"class", to_string(*resource.link_class)},
                    {"GBps", number_or_null(resource.GBps)},
                    {"used_GBps", used[i]}});
  }
  return list;
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
  of.limits = Json::array();
  of.links = Json::array();
  if (!between_gpus(of)) return;
  const auto nodes = gpus_of_ranks(result, graph);
  std::vector<KnownPair> pairs;
  std::vector<Flow> flows;
  for (auto& pair : of.pairs) {
    const auto from = nodes.find(pair.at("src").get<int>());
    const auto to = nodes.find(pair.at("dst").get<int>());
    if (from == nodes.end() || to == nodes.end() || from->second == to->second) continue;
    const auto carrier = carrier_of(of, from->first, to->first, graph);
    pairs.push_back({&pair, from->second, to->second});
    pair["path"] = carrier.name.empty() ? Json() : Json(carrier.name);
    if (auto flow = flow_of(graph, carrier, from->second, to->second)) {
      flow->bytes = load_of(of, pair);
      pairs.back().flow = flows.size();
      flows.push_back(std::move(*flow));
    }
  }
  // What other pairs take than the known ones, nobody can tell.
  const bool all = is_exchange(of) || of.parameters.value("concurrent", Json()) == "all";
  expect(pairs, graph, all && pairs.size() == of.pairs.size());
  const auto limits = limits_of(graph, flows);
  LimitTable table(graph, limits);
  for (const auto& known : pairs) table.add(known);
  of.limits = table.to_json();
  if (is_exchange(of)) add_exchange_limit(of, flows, limits);
  // What pairs of unknown ways add, nobody can tell: then all at once is no load to show.
  if (all && flows.size() != of.pairs.size()) return;
  of.links = link_loads(graph, flows, limits, all, GBps_per_load(of, flows));
}

}  // namespace ucxbench
