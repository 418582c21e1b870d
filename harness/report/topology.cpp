#include "harness/report/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/analysis/limits/machine_limits.hpp"
#include "harness/core/units.hpp"
#include "harness/report/text.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

std::string or_unknown(const std::string& text) {
  return text.empty() ? unknown_cell : on_one_line(text);
}

std::string matrix_of(const Graph& graph) {
  const auto devices = graph.devices();
  TextRows rows(1, {""});
  for (const auto device : devices) rows.front().push_back(on_one_line(graph.nodes[device].name));
  for (const auto from : devices) {
    rows.push_back({on_one_line(graph.nodes[from].name)});
    for (const auto to : devices) rows.back().push_back(to_string(class_between(graph, from, to)));
  }
  return left_aligned(rows, true);
}

std::string nearest_nic_of(const Graph& graph, std::size_t gpu) {
  constexpr std::size_t most_names = 4;
  const auto nearest = nearest_nics(graph, gpu);
  if (nearest.nodes.empty()) return unknown_cell;
  if (nearest.nodes.size() > most_names) {
    return fmt::format("{} of {} NICs", to_string(nearest.path_class), nearest.nodes.size());
  }
  std::vector<std::string> names;
  for (const auto nic : nearest.nodes) names.push_back(graph.nodes[nic].name);
  return fmt::format("{} {}", to_string(nearest.path_class), fmt::join(names, " "));
}

std::string numa_text(const Graph& graph, std::size_t node) {
  const auto numa = numa_of(graph, node);
  return numa ? fmt::format("{}", *numa) : unknown_cell;
}

std::string cpus_text(const Graph& graph, std::size_t node) {
  const auto cpus = nearest_cpus(graph, node);
  if (!cpus) return unknown_cell;
  return cpus->empty() ? no_cell : format_list(*cpus);
}

std::string devices_of(const Graph& graph) {
  const bool nics = !graph.of_kind(NodeKind::nic).empty();
  TextRows rows = {{"device", "also", "NUMA", "CPUs", "nearest NIC", "PCI", "port", "model"}};
  for (const auto device : graph.devices()) {
    const auto& node = graph.nodes[device];
    const bool gpu = node.kind == NodeKind::gpu;
    rows.push_back({on_one_line(node.name), node.alias.empty() ? no_cell : on_one_line(node.alias),
                    numa_text(graph, device), cpus_text(graph, device),
                    gpu && nics ? nearest_nic_of(graph, device) : no_cell, or_unknown(node.pci),
                    gpu ? no_cell : or_unknown(node.state), or_unknown(node.model)});
  }
  return left_aligned(rows);
}

std::string processors_of(const Graph& graph) {
  TextRows rows = {{"NUMA node", "CPUs", "socket", "processor"}};
  for (const auto numa : graph.of_kind(NodeKind::numa)) {
    const auto parent = graph.parent_of(numa);
    const bool socket = parent != Node::none && graph.nodes[parent].kind == NodeKind::socket;
    rows.push_back({on_one_line(graph.nodes[numa].name), cpus_text(graph, numa),
                    socket ? graph.nodes[parent].name : unknown_cell,
                    socket ? or_unknown(graph.nodes[parent].model) : unknown_cell});
  }
  return rows.size() == 1 ? "" : left_aligned(rows);
}

/// Two decimals at most.
std::string rate_text(double rate) {
  auto text = fmt::format("{:.2f}", rate);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string capacities_of(const Graph& graph) {
  // In the order of the table: near before far, many NVLinks before few.
  using Key = std::tuple<Distance, int, std::string, std::string>;
  std::map<Key, std::size_t> counts;
  const auto devices = graph.devices();
  for (auto a = devices.begin(); a != devices.end(); ++a) {
    for (auto b = a + 1; b != devices.end(); ++b) {
      const auto path = path_between(graph, *a, *b);
      const auto rate =
          path.capacity_GBps
              ? fmt::format("{}{}", path.complete ? "" : "<= ", rate_text(*path.capacity_GBps))
              : unknown_cell;
      ++counts[{path.path_class.distance, -path.path_class.nvlinks, rate, path.source}];
    }
  }
  TextRows rows = {{"class", "pairs", "GB/s one way", "limited by"}};
  for (const auto& [key, count] : counts) {
    const auto& [distance, nvlinks, rate, source] = key;
    rows.push_back({to_string(PathClass{distance, -nvlinks}), fmt::format("{}", count), rate,
                    or_unknown(source)});
  }
  return rows.size() == 1 ? "" : left_aligned(rows, true);
}

std::string all_to_all_text(const Graph& graph) {
  TextRows rows = {{"every GPU to every other", "GB/s each", "limited by", "unknown"}};
  for (const auto& all : all_to_all_of(graph)) {
    const auto& by = all.limits.resources[*all.limits.bottleneck];
    const auto reasons = unknown_in(all.limits);
    rows.push_back(
        {all.route, fmt::format("{}{}", reasons.empty() ? "" : "<= ", rate_text(all.per_gpu_GBps)),
         on_one_line(fmt::format("{}: {}", by.name, by.source)),
         reasons.empty() ? no_cell : on_one_line(fmt::to_string(fmt::join(reasons, "; ")))});
  }
  return rows.size() == 1 ? "" : left_aligned(rows);
}

}  // namespace

std::string topology_text(const Graph& graph) {
  auto text = fmt::format("topology of {}, hash {}\n\n", or_unknown(graph.source), hash_of(graph));
  text += graph.devices().empty() ? "  no GPU and no NIC is visible\n\n"
                                  : matrix_of(graph) + devices_of(graph);
  text += processors_of(graph) + capacities_of(graph) + all_to_all_text(graph);
  text.pop_back();  // no empty line at the end
  return text;
}

}  // namespace ucxbench
