#include "harness/analysis/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <pugixml.hpp>
#include <system_error>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/discover.hpp"
#include "harness/topology/hwloc_xml.hpp"
#include "harness/topology/xml.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20U;

std::string read(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in || folder) {
    throw Failure(Exit::usage,
                  fmt::format("cannot be read: {}; name what nvidia-smi topo -m, "
                              "lstopo or NCCL wrote",
                              std::generic_category().message(folder ? EISDIR : errno)));
  }
  // One byte more than allowed tells; pipes have no size to ask for.
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_bytes) {
    throw Failure(Exit::usage, fmt::format("more than {} MiB, which is no machine's topology",
                                           most_bytes >> 20U));
  }
  return text;
}

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
    return import_any(text);
  } catch (const Failure& failure) {
    // A quoted name may hold anything, and much of it.
    constexpr std::size_t most_characters = 300;
    std::string what = failure.what();
    if (what.size() > most_characters) what = what.substr(0, most_characters) + " …";
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    throw Failure(failure.exit(), what);
  }
}

Graph import_topology(const std::filesystem::path& file) {
  try {
    return import_topology_text(read(file));
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), fmt::format("'{}': {}", file.string(), failure.what()));
  }
}

}  // namespace ucxbench
