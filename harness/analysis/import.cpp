#include "harness/analysis/import.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <pugixml.hpp>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/json_depth.hpp"
#include "harness/core/text.hpp"
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
  if (too_deep(text)) {
    throw Failure(Exit::usage, fmt::format("JSON of more than {} levels; give what ucx-bench topo "
                                           "--format json wrote",
                                           most_json_levels));
  }
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw Failure(Exit::usage, "not whole JSON; give what ucx-bench topo --format json wrote");
  }
  auto graph = graph_from_json(json);
  if (graph.source == discovered_source) graph.source = "a recorded machine";
  return graph;
}

Graph import_any(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto begin = trim_text(text);
  if (begin.empty()) {
    throw Failure(Exit::usage, "empty; give what nvidia-smi topo -m, lstopo or NCCL wrote");
  }
  if (begin.starts_with('<')) return import_xml(begin);
  if (begin.starts_with('{')) return import_json(begin);
  return graph_from_matrix(text);
}

}  // namespace

Graph import_topology_text(std::string_view text) {
  try {
    auto graph = import_any(text);
    if (graph.devices().size() > most_ends) {
      throw Failure(Exit::usage,
                    fmt::format("more than {} GPUs and NICs: no machine has so many", most_ends));
    }
    return graph;
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), in_one_line(failure.what()));
  }
}

Graph import_topology(const std::filesystem::path& file) {
  const auto text =
      read_given(file, most_bytes, "name what nvidia-smi topo -m, lstopo or NCCL wrote");
  try {
    return import_topology_text(text);
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), fmt::format("'{}': {}", file.string(), failure.what()));
  }
}

}  // namespace ucxbench
