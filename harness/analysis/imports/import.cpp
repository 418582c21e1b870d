#include "harness/analysis/imports/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "harness/analysis/imports/line_prefixes.hpp"
#include "harness/analysis/imports/matrix_paste.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/json.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/discover.hpp"
#include "harness/topology/hwloc_xml.hpp"
#include "harness/topology/xml.hpp"

namespace ucxbench {
namespace {

/// More is no machine's topology.
constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20U;
/// What is said of a machine is said of each pair of them.
constexpr std::size_t most_ends = 512;

Graph import_xml(std::string_view text) {
  pugi::xml_document document;
  const std::string root = parse_xml(text, document).name();
  if (root == "topology") return graph_from_hwloc_xml(text);
  if (root == "system") return graph_from_nccl_xml(text);
  throw Failure(Exit::usage, fmt::format("XML of <{}>: expected hwloc's <topology> or NCCL's "
                                         "<system>",
                                         root));
}

Graph import_json(std::string_view text) {
  try {
    auto graph = graph_from_json(read_json(text));
    if (graph.source == discovered_source) graph.source = "a recorded machine";
    return graph;
  } catch (const BadJson& bad) {
    throw Failure(Exit::usage,
                  fmt::format("not whole JSON: {}; give what ucx-bench topo --format json wrote",
                              bad.what()));
  }
}

/// nvidia-smi and NCCL number all GPUs of a machine.
void warn_of_gaps(Graph& graph) {
  std::set<int> numbers;
  for (const auto gpu : graph.of_kind(NodeKind::gpu)) {
    const std::string_view name = graph.nodes[gpu].name;
    int number = 0;
    const auto* end = name.data() + name.size();
    if (!name.starts_with("GPU")) continue;
    const auto [rest, error] = std::from_chars(name.data() + 3, end, number);
    if (error == std::errc{} && rest == end) numbers.insert(number);
  }
  if (numbers.empty() || *numbers.rbegin() > static_cast<int>(most_ends)) return;
  std::vector<int> missing;
  for (int number = 0; number < *numbers.rbegin(); ++number) {
    if (!numbers.contains(number)) missing.push_back(number);
  }
  if (missing.empty()) return;
  graph.warnings.push_back(fmt::format("no GPU{}, but GPU{}: the others keep their numbers",
                                       format_list(missing), *numbers.rbegin()));
}

/// Every GPU of a host has as many NVLinks into its switches.
void warn_of_uneven_switches(Graph& graph) {
  std::map<std::size_t, int> counts;
  for (const auto gpu : graph.of_kind(NodeKind::gpu)) counts[gpu] = 0;
  for (const auto& link : graph.links) {
    const bool into =
        link.link_class == LinkClass::nvlink && graph.nodes[link.to].kind == NodeKind::nvswitch;
    if (into && counts.contains(link.from)) counts[link.from] += link.count;
  }
  int most = 0;
  for (const auto& [gpu, count] : counts) most = std::max(most, count);
  for (const auto& [gpu, count] : counts) {
    if (count == most) continue;
    graph.warnings.push_back(fmt::format("{} has {} NVLinks into switches, others have {}",
                                         graph.nodes[gpu].name, count, most));
  }
}

void warn_of_nameless_nics(Graph& graph) {
  const auto nics = graph.of_kind(NodeKind::nic);
  const auto nameless = [&](std::size_t nic) { return !is_device_name(graph.nodes[nic].name); };
  const auto first = std::find_if(nics.begin(), nics.end(), nameless);
  if (first == nics.end() || std::all_of(nics.begin(), nics.end(), nameless)) return;
  graph.warnings.push_back(
      fmt::format("{} has no device's name, other NICs have", graph.nodes[*first].name));
}

/// pugixml and nlohmann's would stop there, or take it as a part of a name.
void refuse_zero_bytes(std::string_view text) {
  const auto at = text.find('\0');
  if (at == std::string_view::npos) return;
  throw Failure(Exit::usage,
                fmt::format("line {}: a NUL byte: damaged, or UTF-16; give plain text in UTF-8",
                            1 + std::count(text.begin(),
                                           text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
}

/// Else it may be an issue's text that begins with <details> or <pre>.
bool begins_as_xml(std::string_view text) {
  constexpr std::array<std::string_view, 4> beginnings = {"<?", "<!", "<topology", "<system"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](auto beginning) { return text.starts_with(beginning); });
}

Graph import_any(std::string_view pasted) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (pasted.starts_with(byte_order_mark)) pasted.remove_prefix(byte_order_mark.size());
  refuse_other_output(pasted, false);
  const auto text = without_line_prefixes(pasted);
  const auto begin = trim_text(text);
  if (begin.empty()) {
    throw Failure(Exit::usage, "empty; give what nvidia-smi topo -m, lstopo or NCCL wrote");
  }
  if (begin.starts_with('<') && (begins_as_xml(begin) || !has_matrix(text))) {
    return import_xml(begin);
  }
  if (begin.starts_with('{')) return import_json(begin);
  return graph_from_matrix(text);
}

}  // namespace

Graph import_topology_text(std::string_view text) {
  try {
    refuse_zero_bytes(text);
    auto graph = import_any(text);
    if (graph.devices().size() > most_ends) {
      throw Failure(Exit::usage,
                    fmt::format("more than {} GPUs and NICs: no machine has so many", most_ends));
    }
    warn_of_gaps(graph);
    warn_of_uneven_switches(graph);
    warn_of_nameless_nics(graph);
    for (auto& warning : graph.warnings) warning = in_one_line(warning);
    return graph;
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), in_one_line(failure.what()));
  }
}

Graph import_topology(const std::filesystem::path& file) {
  const auto text =
      read_given(file, most_bytes, "name what nvidia-smi topo -m, lstopo or NCCL wrote");
  try {
    auto graph = import_topology_text(text);
    for (auto& warning : graph.warnings) {
      warning = fmt::format("'{}': {}", file.string(), warning);
    }
    return graph;
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), fmt::format("'{}': {}", file.string(), failure.what()));
  }
}

}  // namespace ucxbench
