#include "harness/analysis/wired_hosts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::string on_host(const Node& node) { return " on " + node.host; }

/// Of a host whose wiring is another one's, only the name of that is recorded.
Json wiring_of_host(const Result& result, const Json& hosts, const Json& host) {
  if (&host == &hosts.front()) return result.topology;
  const auto topology = host.value("topology", Json());
  if (!topology.is_string()) return topology;
  const auto same = std::ranges::find_if(
      hosts, [&](const Json& other) { return other.value("name", Json()) == topology; });
  const bool known = same != hosts.end() && !same->value("topology", Json()).is_string();
  return known ? wiring_of_host(result, hosts, *same) : Json();
}

void append(Graph& all, Graph more, const std::string& host) {
  const auto nodes = all.nodes.size();
  const auto links = all.links.size();
  for (auto& node : more.nodes) {
    node.host = host;
    if (nodes > 0) node.name += on_host(node);
    if (node.up != Node::none) node.up += links;
    all.nodes.push_back(std::move(node));
  }
  for (auto& link : more.links) {
    link.from += nodes;
    link.to += nodes;
    all.links.push_back(std::move(link));
  }
  for (const auto& [pair, path_class] : more.stated) {
    all.stated[{pair.first + nodes, pair.second + nodes}] = path_class;
  }
}

template <typename Is>
std::size_t find_on(const Graph& graph, std::string_view host, Is is) {
  const auto found = std::ranges::find_if(
      graph.nodes, [&](const Node& node) { return node.host == host && is(node); });
  return found == graph.nodes.end() ? Node::none
                                    : static_cast<std::size_t>(found - graph.nodes.begin());
}

}  // namespace

Graph graph_of_hosts(const Result& result) {
  Graph all;
  const auto hosts = result.machine.value("hosts", Json::array());
  const auto devices = result.topology.value("devices", Json::array());
  if (devices.empty()) return all;
  all.source = text_at(result.topology, "/source", "");
  append(all, graph_from_json(result.topology), text_at(result.machine, "/hosts/0/name"));
  for (std::size_t at = 1; at < hosts.size(); ++at) {
    const auto topology = wiring_of_host(result, hosts, hosts[at]);
    if (!topology.is_object()) continue;
    append(all, graph_from_json(topology), text_at(hosts[at], "/name"));
  }
  return all;
}

std::size_t find_pci_on(const Graph& graph, std::string_view host, std::string_view pci) {
  return find_on(graph, host, [&](const Node& node) { return !pci.empty() && node.pci == pci; });
}

std::size_t find_name_on(const Graph& graph, std::string_view host, const std::string& name) {
  return find_on(graph, host, [&](const Node& node) { return own_name(node) == name; });
}

std::size_t find_nic_on(const Graph& graph, std::string_view host, std::string_view nic) {
  const auto name = nic.substr(0, nic.find(':'));
  return find_on(graph, host, [&](const Node& node) {
    return node.kind == NodeKind::nic && !name.empty() &&
           (own_name(node) == name || node.alias == name);
  });
}

std::string own_name(const Node& node) {
  const auto behind = on_host(node);
  return node.name.ends_with(behind) ? node.name.substr(0, node.name.size() - behind.size())
                                     : node.name;
}

}  // namespace ucxbench
