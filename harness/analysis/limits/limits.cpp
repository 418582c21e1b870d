#include "harness/analysis/limits/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

constexpr double bytes_per_GB = 1e9;

/// Adds up capacities side by side; unknown as soon as one is.
struct SideBySide {
  int count = 0;
  std::optional<double> GBps = 0.0;
  std::string source;
  std::vector<std::size_t> links;
  bool calibrated = false;

  void add(const Graph& graph, std::size_t index, Basis basis) {
    const auto& link = graph.links[index];
    const bool measured = basis == Basis::calibration && link.calibrated_GBps;
    const auto& own_GBps = measured ? link.calibrated_GBps : link.specified_GBps;
    count += link.count;
    GBps = GBps && own_GBps ? std::optional(*GBps + *own_GBps) : std::nullopt;
    // What limits the whole may be the measured one of them: its source is the one to name.
    if (source.empty() || (measured && !calibrated))
      source = measured ? link.calibrated_by : link.source;
    links.push_back(index);
    calibrated |= measured;
  }
};

/// Finds what each flow crosses.
class FlowRouter {
 public:
  FlowRouter(const Graph& graph, Basis basis) : graph_(graph), basis_(basis) {}

  FlowLimit route(const Flow& flow) {
    FlowLimit limit;
    if (flow.rails) {
      rails(flow.from, flow.rails->out, true, limit);
      rails(flow.to, flow.rails->in, false, limit);
      return limit;
    }
    auto at = flow.from;
    for (const auto stop : flow.via) {
      leg(at, stop, limit);
      if (holds_memory(stop)) {
        cross({memory, stop, stop}, "memory of " + graph_.nodes[stop].name,
              unknown("speed of host memory unknown"), 2, limit);
      }
      at = stop;
    }
    leg(at, flow.to, limit);
    return limit;
  }

  std::vector<SharedResource> take_resources() { return std::move(resources_); }

 private:
  /// A link's class, or one of the numbers below, and its ends.
  using Key = std::tuple<int, std::size_t, std::size_t>;
  static constexpr int no_link = -1;
  static constexpr int memory = -2;

  bool holds_memory(std::size_t node) const {
    const auto kind = graph_.nodes[node].kind;
    return kind == NodeKind::numa || kind == NodeKind::host;
  }

  static SideBySide unknown(const char* why) {
    return {.GBps = std::nullopt, .source = why, .links = {}};
  }

  void cross(const Key& key, const std::string& name, const SideBySide& of, double part,
             FlowLimit& limit) {
    const auto [found, added] = index_.emplace(key, resources_.size());
    if (added) {
      const auto [link_class, from, to] = key;
      resources_.push_back({.name = name,
                            .GBps = of.GBps,
                            .source = of.source,
                            .from = from,
                            .to = to,
                            .links = of.links,
                            .calibrated = of.calibrated});
      if (link_class >= 0) resources_.back().link_class = static_cast<LinkClass>(link_class);
    }
    // By way of host memory, a link may be crossed twice.
    const auto known = std::find_if(limit.uses.begin(), limit.uses.end(),
                                    [&](const auto& use) { return use.first == found->second; });
    if (known != limit.uses.end()) {
      known->second += part;
    } else {
      limit.uses.emplace_back(found->second, part);
    }
  }

  void leg(std::size_t from, std::size_t to, FlowLimit& limit) {
    if (from == to) return;
    if (graph_.nodes[from].kind == NodeKind::nic && graph_.nodes[to].kind == NodeKind::nic) {
      return network(from, to, limit);
    }
    const auto path = path_between(graph_, from, to);
    if (path.links.empty()) {
      return nothing_known(from, to, "no link between them is known", limit);
    }
    if (graph_.links[path.links.front()].link_class == LinkClass::nvlink) {
      return nvlinks(from, to, path.links, limit);
    }
    for (const auto index : path.links) {
      if (graph_.links[index].link_class != LinkClass::internal) link(index, limit);
    }
  }

  void link(std::size_t index, FlowLimit& limit, double part = 1) {
    const auto& crossed = graph_.links[index];
    SideBySide capacity;
    capacity.add(graph_, index, basis_);
    cross({static_cast<int>(crossed.link_class), crossed.from, crossed.to},
          fmt::format("{} {} -> {}", word_of(crossed.link_class), graph_.nodes[crossed.from].name,
                      graph_.nodes[crossed.to].name),
          capacity, part, limit);
  }

  /// Between data and the network, one way, over NICs side by side.
  void rails(std::size_t data, const std::vector<std::size_t>& nics, bool out, FlowLimit& limit) {
    std::vector<std::vector<std::size_t>> ways;
    std::vector<double> widths;
    for (const auto nic : nics) {
      ways.push_back(way(data, nic, out));
      const auto width = narrowest(ways.back());
      // What a port of unknown rate carries beside the others, nobody can tell.
      if (ways.back().empty() || (!width && nics.size() > 1)) return unknown_port(data, out, limit);
      widths.push_back(width.value_or(1));
    }
    if (nics.empty()) return unknown_port(data, out, limit);
    const auto all = std::accumulate(widths.begin(), widths.end(), 0.0);
    for (std::size_t rail = 0; rail < ways.size(); ++rail) {
      for (const auto index : ways[rail]) link(index, limit, widths[rail] / all);
    }
  }

  void unknown_port(std::size_t data, bool out, FlowLimit& limit) {
    cross({no_link, out ? data : Node::none, out ? Node::none : data},
          fmt::format("the way {} {}", out ? "from" : "to", graph_.nodes[data].name),
          unknown("rate of the port unknown"), 1, limit);
  }

  /// Links that limit; none where the NIC has no cable. Of a host as a whole nobody knows where its
  /// data are: then as near to the NIC as can be.
  std::vector<std::size_t> way(std::size_t data, std::size_t nic, bool out) const {
    std::vector<std::size_t> links;
    const auto cable = cable_of(nic, out);
    if (cable == Node::none) return links;
    const auto near =
        graph_.nodes[data].kind == NodeKind::host ? via_host_memory(graph_, nic).front() : data;
    const auto path = out ? path_between(graph_, near, nic) : path_between(graph_, nic, near);
    for (const auto index : path.links) {
      if (graph_.links[index].link_class != LinkClass::internal) links.push_back(index);
    }
    links.push_back(cable);
    return links;
  }

  std::optional<double> narrowest(const std::vector<std::size_t>& links) const {
    std::optional<double> GBps;
    for (const auto index : links) {
      SideBySide capacity;
      capacity.add(graph_, index, basis_);
      if (graph_.links[index].link_class == LinkClass::network && !capacity.GBps)
        return std::nullopt;
      if (capacity.GBps && (!GBps || *capacity.GBps < *GBps)) GBps = capacity.GBps;
    }
    return GBps;
  }

  std::size_t cable_of(std::size_t nic, bool out) const {
    for (std::size_t i = 0; i < graph_.links.size(); ++i) {
      const auto& link = graph_.links[i];
      if (link.link_class == LinkClass::network && (out ? link.from : link.to) == nic) return i;
    }
    return Node::none;
  }

  static const char* word_of(LinkClass link_class) {
    if (link_class == LinkClass::socket) return "sockets";
    if (link_class == LinkClass::c2c) return "NVLink-C2C";
    return link_class == LinkClass::network ? "port" : "PCIe";
  }

  /// The cables of both; the network between them is taken to be as wide as those.
  void network(std::size_t from, std::size_t to, FlowLimit& limit) {
    const auto out = cable_of(from, true);
    const auto in = cable_of(to, false);
    if (out == Node::none || in == Node::none) {
      return nothing_known(from, to, "rate of the port unknown", limit);
    }
    link(out, limit);
    link(in, limit);
  }

  void nothing_known(std::size_t from, std::size_t to, const char* why, FlowLimit& limit) {
    cross({no_link, from, to},
          fmt::format("the way {} -> {}", graph_.nodes[from].name, graph_.nodes[to].name),
          unknown(why), 1, limit);
  }

  /// The switches of a host are one, as they are for paths.
  void nvlinks(std::size_t from, std::size_t to, const std::vector<std::size_t>& links,
               FlowLimit& limit) {
    SideBySide direct;
    SideBySide into;
    SideBySide out;
    for (const auto index : links) {
      const auto& link = graph_.links[index];
      auto& bundle = link.from != from ? out : link.to == to ? direct : into;
      bundle.add(graph_, index, basis_);
    }
    const auto switched = std::min(into.count, out.count);
    const double all = direct.count + switched;
    constexpr auto switches = Node::none;
    const auto add = [&](std::size_t a, std::size_t b, const SideBySide& bundle, int count) {
      if (count == 0) return;
      const auto name = [&](std::size_t node) {
        return node == switches ? "NVSwitches" : graph_.nodes[node].name;
      };
      cross({static_cast<int>(LinkClass::nvlink), a, b},
            fmt::format("NVLinks {} -> {}", name(a), name(b)), bundle, count / all, limit);
    };
    add(from, to, direct, direct.count);
    add(from, switches, into, switched);
    add(switches, to, out, switched);
  }

  const Graph& graph_;
  Basis basis_;
  std::map<Key, std::size_t> index_;
  std::vector<SharedResource> resources_;
};

void check_flow(const Graph& graph, const Flow& flow) {
  const auto known = [&](std::size_t node) { return node < graph.nodes.size(); };
  const auto rails = flow.rails.value_or(Flow::Rails{});
  if (!known(flow.from) || !known(flow.to) || !std::ranges::all_of(flow.via, known) ||
      !std::ranges::all_of(rails.out, known) || !std::ranges::all_of(rails.in, known)) {
    throw std::invalid_argument("a flow between nodes that the graph does not have");
  }
  if (!std::isfinite(flow.bytes) || flow.bytes < 0) {
    throw std::invalid_argument(fmt::format("a flow of {} bytes: expected 0 or more", flow.bytes));
  }
}

void limit_alone(const std::vector<SharedResource>& resources, FlowLimit& limit) {
  for (const auto& [index, part] : limit.uses) {
    const auto& capacity = resources[index].GBps;
    limit.complete = limit.complete && capacity;
    if (!capacity || (limit.alone_GBps && *limit.alone_GBps <= *capacity / part)) continue;
    limit.alone_GBps = *capacity / part;
    limit.alone_by = index;
  }
}

/// Progressive filling: all rates grow alike until a resource is full; its flows stay as they are,
/// the others grow on.
class Filling {
 public:
  Filling(const std::vector<Flow>& flows, const Limits& limits)
      : limits_(limits), shares_(flows.size()) {
    for (const auto& resource : limits.resources) all_.push_back({resource.GBps});
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].bytes == 0) continue;
      for (const auto& [index, part] : limits.flows[f].uses) {
        all_[index].parts += part;
        all_[index].flows.push_back(f);
        ++all_[index].growing;
      }
    }
  }

  std::vector<std::optional<double>> fill() {
    while (const auto* full = next_full()) {
      const auto rate = std::max(full->full_at(), 0.0);
      for (const auto flow : full->flows) {
        if (!shares_[flow]) settle(flow, rate);
      }
    }
    return std::move(shares_);
  }

 private:
  struct Filled {
    std::optional<double> left;  ///< by settled flows, GB/s
    double parts = 0;            ///< of each byte of all flows that still grow
    std::size_t growing = 0;     ///< how many these are
    std::vector<std::size_t> flows{};

    double full_at() const { return *left / parts; }
  };

  /// The one that is full at the lowest rate, if flows grow on any.
  const Filled* next_full() const {
    const Filled* next = nullptr;
    for (const auto& resource : all_) {
      if (!resource.left || resource.growing == 0) continue;
      if (next == nullptr || resource.full_at() < next->full_at()) next = &resource;
    }
    return next;
  }

  void settle(std::size_t flow, double rate) {
    shares_[flow] = rate;
    for (const auto& [index, part] : limits_.flows[flow].uses) {
      auto& resource = all_[index];
      if (resource.left) *resource.left -= rate * part;
      resource.parts -= part;
      --resource.growing;
    }
  }

  const Limits& limits_;
  std::vector<std::optional<double>> shares_;
  std::vector<Filled> all_;  ///< as Limits::resources
};

}  // namespace

std::optional<double> SharedResource::seconds() const {
  return GBps ? std::optional(bytes / (*GBps * bytes_per_GB)) : std::nullopt;
}

std::vector<std::size_t> via_nearest_nics(const Graph& graph, std::size_t from, std::size_t to) {
  const auto sends = nearest_nics(graph, from).nodes;
  const auto receives = nearest_nics(graph, to).nodes;
  if (sends.size() != 1 || receives.size() != 1) return {};
  return {sends.front(), receives.front()};
}

std::vector<std::size_t> via_host_memory(const Graph& graph, std::size_t from) {
  auto at = from;
  while (graph.nodes[at].kind != NodeKind::numa && graph.parent_of(at) != Node::none) {
    at = graph.parent_of(at);
  }
  return {at};
}

Limits limits_of(const Graph& graph, const std::vector<Flow>& flows, Basis basis) {
  FlowRouter router(graph, basis);
  std::vector<FlowLimit> uses;
  for (const auto& flow : flows) {
    check_flow(graph, flow);
    uses.push_back(router.route(flow));
  }
  return limits_over(router.take_resources(), std::move(uses), flows);
}

Limits limits_over(std::vector<SharedResource> resources, std::vector<FlowLimit> uses,
                   const std::vector<Flow>& flows) {
  Limits limits{.resources = std::move(resources), .flows = std::move(uses)};
  for (std::size_t f = 0; f < flows.size(); ++f) {
    auto& limit = limits.flows[f];
    limit_alone(limits.resources, limit);
    for (const auto& [index, part] : limit.uses) {
      limits.resources[index].bytes += part * flows[f].bytes;
    }
  }
  for (std::size_t i = 0; i < limits.resources.size(); ++i) {
    const auto& resource = limits.resources[i];
    if (resource.bytes == 0) continue;
    const auto seconds = resource.seconds();
    if (!seconds) limits.unknown.push_back(i);
    if (!seconds || (limits.seconds && *limits.seconds >= *seconds)) continue;
    limits.seconds = seconds;
    limits.bottleneck = i;
  }
  return limits;
}

std::optional<double> together_GBps(const std::vector<Flow>& flows, const Limits& limits) {
  if (!limits.seconds || *limits.seconds <= 0) return std::nullopt;
  double bytes = 0;
  for (const auto& flow : flows) bytes += flow.bytes;
  return bytes / *limits.seconds / 1e9;
}

std::vector<std::optional<double>> fair_shares(const std::vector<Flow>& flows,
                                               const Limits& limits) {
  return Filling(flows, limits).fill();
}

}  // namespace ucxbench
