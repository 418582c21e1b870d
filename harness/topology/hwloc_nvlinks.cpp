#include "harness/topology/hwloc_nvlinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "harness/core/failure.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

/// Of what the matrix has: objects by their gp_index.
struct Ends {
  std::map<std::string, std::string> pci_of_gpus;
  std::map<std::string, std::string> pci_of_switches;
  std::set<std::string> all;
};

/// A GPU is in the matrix as NVML's device, a switch as the PCI device.
struct FindEnds : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node& object) override {
    const std::string index = object.attribute("gp_index").value();
    if (!index.empty() && !ends.all.insert(index).second) {
      throw Failure(Exit::usage, fmt::format("hwloc XML: two objects have gp_index {}", index));
    }
    const std::string_view type = object.attribute("type").value();
    const std::string_view subtype = object.attribute("subtype").value();
    if (type == "OSDev" && std::string_view(object.attribute("name").value()).starts_with("nvml")) {
      ends.pci_of_gpus[index] = normal_pci(object.parent().attribute("pci_busid").value());
    } else if (type == "PCIDev" && subtype == "NVSwitch") {
      ends.pci_of_switches[index] = normal_pci(object.attribute("pci_busid").value());
    }
    return true;
  }
  Ends ends;
};

/// The words of all children of that name, in a row.
std::vector<std::string> words_of(pugi::xml_node matrix, const char* children) {
  std::vector<std::string> words;
  for (const auto child : matrix.children(children)) {
    std::istringstream text(child.child_value());
    for (std::string word; text >> word;) words.push_back(word);
  }
  return words;
}

/// "OSDev:802", or "802" where all are of one type.
std::string index_of(const std::string& word) { return word.substr(word.find(':') + 1); }

double megabytes_of(const std::string& word) {
  double value = 0;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value) || value < 0) {
    throw Failure(Exit::usage,
                  fmt::format("hwloc XML: NVLinkBandwidth has '{}', expected MB/s", word));
  }
  return value;
}

void add_link(Graph& graph, std::size_t gpu, std::size_t to, double megabytes_per_s) {
  constexpr double usual_GBps = 25;  // of NVLink 2 to 4, where the model does not tell
  constexpr double most_links = 99;
  const auto* generation = nvlink_of_model(graph.nodes[gpu].model);
  const auto links = megabytes_per_s / 1000 / (generation ? generation->GBps : usual_GBps);
  if (!(links > 0.5 && links < most_links)) {
    graph.warnings.push_back(
        fmt::format("NVLinkBandwidth of {} is {} MB/s, which no links are: "
                    "left out",
                    graph.nodes[gpu].pci, megabytes_per_s));
    return;
  }
  Link link;
  link.from = gpu;
  link.to = to;
  link.link_class = LinkClass::nvlink;
  link.count = static_cast<int>(std::lround(links));
  link.specified_GBps = megabytes_per_s / 1000;
  link.source = "NVLinkBandwidth of hwloc";
  if (graph.nodes[to].kind == NodeKind::nvswitch) {
    graph.connect(gpu, to, std::move(link));
  } else {
    graph.links.push_back(std::move(link));
  }
}

void add_matrix(Graph& graph, pugi::xml_node matrix, const Ends& ends) {
  const auto objects = words_of(matrix, "indexes");
  const auto values = words_of(matrix, "u64values");
  if (objects.size() > Graph::most_nodes || values.size() != objects.size() * objects.size()) {
    throw Failure(Exit::usage,
                  fmt::format("hwloc XML: NVLinkBandwidth has {} values for {} objects",
                              values.size(), objects.size()));
  }
  for (const auto& object : objects) {
    if (ends.all.contains(index_of(object))) continue;
    throw Failure(Exit::usage, fmt::format("hwloc XML: NVLinkBandwidth names object {}, which is "
                                           "not in the file",
                                           object));
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto gpu = ends.pci_of_gpus.find(index_of(objects[i]));
    const auto from = gpu == ends.pci_of_gpus.end() ? Node::none : graph.find_pci(gpu->second);
    if (from == Node::none) continue;
    for (std::size_t j = 0; j < objects.size(); ++j) {
      const double bandwidth = megabytes_of(values[i * objects.size() + j]);
      if (i == j || bandwidth <= 0) continue;
      const auto peer = ends.pci_of_gpus.find(index_of(objects[j]));
      const auto nvswitch = ends.pci_of_switches.find(index_of(objects[j]));
      auto to = Node::none;
      if (peer != ends.pci_of_gpus.end()) to = graph.find_pci(peer->second);
      if (nvswitch != ends.pci_of_switches.end()) to = switch_at(graph, nvswitch->second);
      // Else a processor of IBM's.
      if (to == Node::none) continue;
      add_link(graph, from, to, bandwidth);
      const double back = megabytes_of(values[j * objects.size() + i]);
      if (peer != ends.pci_of_gpus.end() && back != bandwidth && (i < j || back <= 0)) {
        graph.warnings.push_back(
            fmt::format("NVLinkBandwidth from {} to {} is {} MB/s, {} back: no machine is wired so",
                        graph.nodes[from].pci, graph.nodes[to].pci, bandwidth, back));
      }
    }
  }
}

}  // namespace

void add_hwloc_nvlinks(Graph& graph, pugi::xml_node topology) {
  FindEnds finder;
  topology.traverse(finder);
  for (const char* name : {"distances2", "distances2hetero"}) {
    for (const auto matrix : topology.children(name)) {
      if (std::string_view(matrix.attribute("name").value()) == "NVLinkBandwidth") {
        add_matrix(graph, matrix, finder.ends);
      }
    }
  }
}

}  // namespace ucxbench
