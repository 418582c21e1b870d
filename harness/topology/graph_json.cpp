#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/names.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/graph.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

constexpr Names<NodeKind, 9> kinds = {{{NodeKind::host, "host"},
                                       {NodeKind::socket, "socket"},
                                       {NodeKind::numa, "numa"},
                                       {NodeKind::host_bridge, "host-bridge"},
                                       {NodeKind::bridge, "bridge"},
                                       {NodeKind::gpu, "gpu"},
                                       {NodeKind::nic, "nic"},
                                       {NodeKind::nvswitch, "switch"},
                                       {NodeKind::network, "network"}}};

constexpr Names<LinkClass, 6> link_classes = {{{LinkClass::nvlink, "NVLink"},
                                               {LinkClass::pcie, "PCIe"},
                                               {LinkClass::socket, "socket"},
                                               {LinkClass::network, "network"},
                                               {LinkClass::internal, "internal"},
                                               {LinkClass::c2c, "NVLink-C2C"}}};

[[noreturn]] void refuse(const std::string& what) {
  throw Failure(Exit::usage, in_one_line(what) + "; give what ucx-bench topo --format json wrote");
}

template <typename Value, std::size_t Size>
Value known(const Names<Value, Size>& names, const std::string& text, std::string_view what) {
  if (const auto value = value_of(names, text)) return *value;
  refuse(fmt::format("topology: unknown {} '{}'", what, text));
}

std::string text_at(const Json& json, const char* key) {
  const auto value = json.value(key, Json());
  return value.is_null() ? "" : value.get<std::string>();
}

/// Null, or an integer from `least` to a million.
std::optional<int> number_at(const Json& json, const char* key, int least) {
  constexpr int most = 1'000'000;
  const auto value = json.value(key, Json());
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer() || value < least || value > most) {
    refuse(fmt::format("topology: {} is {}, expected null or an integer from {}", key, value.dump(),
                       least));
  }
  return value.get<int>();
}

std::optional<double> rate_at(const Json& json, const char* key) {
  const auto value = json.value(key, Json());
  if (value.is_null()) return std::nullopt;
  const auto rate = value.get<double>();
  if (!std::isfinite(rate) || rate <= 0) {
    refuse(fmt::format("topology: {} is {}, expected null or more than 0", key, rate));
  }
  return rate;
}

Json device(const Graph& graph, std::size_t index) {
  const auto& node = graph.nodes[index];
  const auto parent = graph.parent_of(index);
  Json json = {{"name", node.name}, {"alias", text_or_null(node.alias)}};
  json["kind"] = name_of(kinds, node.kind);
  json["model"] = text_or_null(node.model);
  json["pci"] = text_or_null(node.pci);
  json["state"] = text_or_null(node.state);
  if (!node.fabric.empty()) json["fabric"] = node.fabric;
  if (!node.vendor.empty()) json["vendor"] = node.vendor;
  if (node.rdma) json["rdma"] = *node.rdma;
  // Its own or its NUMA node's, so that readers need not climb.
  const auto cpus = nearest_cpus(graph, index);
  json["numa_node"] = number_or_null(numa_of(graph, index));
  json["cpu_affinity"] = cpus ? Json(format_list(*cpus)) : Json();
  json["parent"] = parent == Node::none ? Json() : Json(graph.nodes[parent].name);
  return json;
}

Json link_json(const Graph& graph, const Link& link) {
  return {{"from", graph.nodes[link.from].name},
          {"to", graph.nodes[link.to].name},
          {"class", name_of(link_classes, link.link_class)},
          {"count", link.count},
          {"spec_GBps", number_or_null(link.specified_GBps)},
          {"calibrated_GBps", number_or_null(link.calibrated_GBps)},
          {"calibrated_by", text_or_null(link.calibrated_by)},
          {"now_GBps", number_or_null(link.now_GBps)},
          {"source", text_or_null(link.source)}};
}

Json pairs_of(const Graph& graph) {
  Json pairs = Json::array();
  const auto devices = graph.devices();
  for (auto a = devices.begin(); a != devices.end(); ++a) {
    for (auto b = a + 1; b != devices.end(); ++b) {
      pairs.push_back({{"a", graph.nodes[*a].name},
                       {"b", graph.nodes[*b].name},
                       {"class", to_string(class_between(graph, *a, *b))}});
    }
  }
  return pairs;
}

Node node_of(const Json& json) {
  Node node;
  node.name = json.at("name").get<std::string>();
  node.kind = known(kinds, json.at("kind").get<std::string>(), "kind");
  node.alias = text_at(json, "alias");
  node.model = text_at(json, "model");
  node.pci = text_at(json, "pci");
  node.state = text_at(json, "state");
  node.fabric = text_at(json, "fabric");
  node.vendor = text_at(json, "vendor");
  if (const auto rdma = json.value("rdma", Json()); !rdma.is_null()) node.rdma = rdma.get<bool>();
  node.numa_node = number_at(json, "numa_node", 0);
  if (const auto cpus = json.value("cpu_affinity", Json()); !cpus.is_null()) {
    const auto text = cpus.get<std::string>();
    node.cpus = text.empty() ? std::vector<int>() : parse_list(text);
  }
  return node;
}

using Index = std::map<std::string, std::size_t>;

std::size_t named(const Index& index, const Json& json, const char* key) {
  const auto name = json.at(key).get<std::string>();
  const auto found = index.find(name);
  if (found == index.end()) refuse(fmt::format("topology: no device is called '{}'", name));
  return found->second;
}

/// Both directions, which stand one after the other.
void read_links(Graph& graph, const Index& index, const Json& links) {
  for (const auto& json : links) {
    Link link;
    link.from = named(index, json, "from");
    link.to = named(index, json, "to");
    link.link_class = known(link_classes, json.at("class").get<std::string>(), "link class");
    link.count = number_at(json, "count", 1).value_or(1);
    link.specified_GBps = rate_at(json, "spec_GBps");
    link.calibrated_GBps = rate_at(json, "calibrated_GBps");
    link.now_GBps = rate_at(json, "now_GBps");
    link.source = text_at(json, "source");
    link.calibrated_by = text_at(json, "calibrated_by");
    graph.links.push_back(std::move(link));
  }
}

bool is_up(const Graph& graph, std::size_t index, std::size_t child, std::size_t parent) {
  const auto& links = graph.links;
  return links[index].from == child && links[index].to == parent &&
         links[index].link_class != LinkClass::nvlink && index + 1 < links.size() &&
         links[index + 1].from == parent && links[index + 1].to == child;
}

void read_parents(Graph& graph, const Index& index, const Json& devices) {
  for (std::size_t child = 0; child < devices.size(); ++child) {
    if (text_at(devices[child], "parent").empty()) continue;
    const auto parent = named(index, devices[child], "parent");
    std::size_t link = 0;
    while (link < graph.links.size() && !is_up(graph, link, child, parent)) ++link;
    if (link == graph.links.size()) {
      refuse(fmt::format("topology: no link from '{}' to its parent and back",
                         graph.nodes[child].name));
    }
    graph.nodes[child].up = link;
  }
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    auto at = node;
    for (std::size_t steps = 0; at != Node::none; at = graph.parent_of(at)) {
      if (++steps > graph.nodes.size()) {
        refuse(fmt::format("topology: '{}' hangs from itself", graph.nodes[node].name));
      }
    }
  }
}

Graph read(const Json& json) {
  Graph graph;
  graph.source = text_at(json, "source");
  graph.unread_gpu_links = text_at(json, "unread_gpu_links");
  Index index;
  const auto& devices = json.at("devices");
  for (const auto& entry : devices) {
    const auto added = graph.add(node_of(entry));
    if (!index.emplace(graph.nodes[added].name, added).second) {
      refuse(fmt::format("topology: two devices are called '{}'", graph.nodes[added].name));
    }
  }
  if (graph.nodes.empty()) refuse("topology: no devices");
  read_links(graph, index, json.at("links"));
  read_parents(graph, index, devices);
  for (const auto& pair : json.at("pairs")) {
    const auto word = pair.at("class").get<std::string>();
    const auto path_class = parse_path_class(word);
    if (!path_class) refuse(fmt::format("topology: unknown class '{}'", word));
    graph.stated[std::minmax(named(index, pair, "a"), named(index, pair, "b"))] = *path_class;
  }
  return graph;
}

}  // namespace

std::string_view to_string(LinkClass link_class) { return name_of(link_classes, link_class); }

Json to_json(const Graph& graph) {
  Json json = {{"hash", hash_of(graph)}, {"source", text_or_null(graph.source)}};
  json["devices"] = Json::array();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) json["devices"].push_back(device(graph, i));
  json["links"] = Json::array();
  for (const auto& link : graph.links) json["links"].push_back(link_json(graph, link));
  json["pairs"] = pairs_of(graph);
  if (!graph.unread_gpu_links.empty()) json["unread_gpu_links"] = graph.unread_gpu_links;
  return json;
}

Graph graph_from_json(const Json& json) {
  try {
    return read(json);
  } catch (const Json::exception& error) {
    refuse(fmt::format("not a topology ({})", error.what()));
  }
}

}  // namespace ucxbench
