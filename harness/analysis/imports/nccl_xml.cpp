#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "harness/analysis/imports/import.hpp"
#include "harness/core/failure.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/xml.hpp"

namespace ucxbench {
namespace {

constexpr unsigned class_bridge = 0x0604;
constexpr unsigned class_nvswitch = 0x0680;
constexpr int most_links = 99;

/// "0x030200" is 0x0302.
unsigned class_of(pugi::xml_node element, const char* attribute) {
  return hexadecimal(element, attribute).value_or(0) >> 8U;
}

bool has_several(pugi::xml_node element, const char* name) {
  return static_cast<bool>(element.child(name).next_sibling(name));
}

bool is_nic(unsigned device_class) { return device_class == 0x0200 || device_class == 0x0207; }

/// "16.0 GT/s PCIe" or "8 GT/s", and the lanes; both may be empty.
std::optional<Capacity> link_of(pugi::xml_node pci) {
  const std::string_view text = pci.attribute("link_speed").value();
  const auto width = whole_number(pci, "link_width");
  // "Unknown" is what the kernel says of a link that is down.
  if (text.empty() || text.starts_with("Unknown")) return std::nullopt;
  double speed = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  constexpr double most_gigatransfers = 256;  // twice PCIe 7, the newest that is specified
  if (error != std::errc{} || !(speed > 0 && speed <= most_gigatransfers) ||
      (!unit.empty() && !unit.starts_with(" GT/s"))) {
    refuse_attribute(pci, "link_speed", "GT/s, as 16.0 GT/s PCIe");
  }
  // 0 and 255 are what the kernel says of a width that it does not know.
  constexpr std::array widths = {0, 1, 2, 4, 8, 12, 16, 32, 255};
  if (width && std::ranges::find(widths, *width) == widths.end()) {
    refuse_attribute(pci, "link_width", "lanes of PCIe: 1, 2, 4, 8, 12, 16 or 32");
  }
  return pcie_capacity(speed, width.value_or(0));
}

class NcclReader {
 public:
  Graph read(pugi::xml_node root) {
    std::vector<std::size_t> numas;
    check_children(root, {"cpu"});
    const std::string host = root.child("cpu").attribute("host_hash").value();
    for (const auto cpu : root.children("cpu")) {
      check_children(cpu, {"pci", "nic"});
      if (cpu.attribute("host_hash").value() != host) {
        throw Failure(Exit::usage, "NCCL XML of several hosts: give one host's");
      }
      numas.push_back(add_numa(cpu));
      between_ = socket_link_text(cpu.attribute("vendor").value(),
                                  whole_number(cpu, "familyid").value_or(0),
                                  whole_number(cpu, "modelid").value_or(0));
      add_devices(cpu, numas.back());
    }
    if (numas.empty()) {
      throw Failure(Exit::usage, "NCCL XML without a <cpu>: no machine is in it");
    }
    for (const auto numa : numas) {
      if (numas.size() == 1) {
        attach_inside(graph_, numa, 0);
      } else {
        attach_across(graph_, numa, 0, between_);
      }
    }
    name_gpus(graph_);
    for (const auto& [gpu, element] : gpus_) {
      check_children(element, {"nvlink", "c2c", "xgmi"});
      add_links(gpu, element);
      add_c2c(gpu, element);
    }
    warn_of_unread_links();
    check_both_ways();
    check_cpus(numas);
    return std::move(graph_);
  }

 private:
  void check_children(pugi::xml_node element, std::initializer_list<std::string_view> known) {
    for (const auto child : element.children()) {
      if (child.type() != pugi::node_element) continue;
      if (std::find(known.begin(), known.end(), child.name()) != known.end()) continue;
      graph_.warnings.push_back(fmt::format("{} in {}: left out", shown(child), shown(element)));
    }
  }

  /// The address of a <pci>; one that is there twice is a line that was copied, or a wrong digit.
  std::string address_of(pugi::xml_node pci) {
    auto address = pci_address(pci, "busid");
    if (!address.empty() && !addresses_.insert(address).second) {
      throw Failure(Exit::usage, fmt::format("NCCL XML: {} is there twice", address));
    }
    return address;
  }

  /// Each GPU says itself how many NVLinks it has to another.
  void check_both_ways() {
    std::map<std::pair<std::size_t, std::size_t>, int> counts;
    for (const auto& link : graph_.links) {
      if (link.link_class == LinkClass::nvlink) counts[{link.from, link.to}] += link.count;
    }
    for (const auto& [ends, count] : counts) {
      const auto [from, to] = ends;
      const auto back = counts.find({to, from});
      const int others = back == counts.end() ? 0 : back->second;
      if (count == others || (others != 0 && from > to)) continue;
      graph_.warnings.push_back(
          fmt::format("{} has {} NVLinks to {}, that one {} back: no machine is wired so",
                      graph_.nodes[from].name, count, graph_.nodes[to].name, others));
    }
  }

  /// Each <cpu> is a NUMA node with CPUs of its own.
  void check_cpus(const std::vector<std::size_t>& numas) {
    std::map<int, std::size_t> numa_of_cpu;
    for (const auto numa : numas) {
      for (const int cpu : graph_.nodes[numa].cpus.value_or(std::vector<int>{})) {
        const auto [other, added] = numa_of_cpu.emplace(cpu, numa);
        if (added) continue;
        graph_.warnings.push_back(
            fmt::format("CPU {} is of {} and of {}: no machine has such "
                        "affinities",
                        cpu, graph_.nodes[other->second].name, graph_.nodes[numa].name));
        break;
      }
    }
  }

  std::size_t add_numa(pugi::xml_node cpu) {
    Node node;
    node.kind = NodeKind::numa;
    const int number = whole_number(cpu, "numaid").value_or(-1);
    if (number >= 0) node.numa_node = number;
    node.name = number < 0 ? free_name(graph_, "NUMA?") : fmt::format("NUMA{}", number);
    check_free(graph_, node.name);
    node.cpus = cpu_mask(cpu, "affinity");
    return graph_.add(std::move(node));
  }

  void add_devices(pugi::xml_node cpu, std::size_t numa) {
    Node node;
    node.kind = NodeKind::host_bridge;
    node.name = "host bridge of " + graph_.nodes[numa].name;
    const auto bridge = graph_.add(std::move(node));
    attach_inside(graph_, bridge, numa);
    for (const auto pci : cpu.children("pci")) add_pci(pci, bridge);
    // A network plug-in's device need not be on PCI.
    for (const auto nic : cpu.children("nic")) {
      for (const auto net : nic.children("net")) add_net(net, {}, bridge);
    }
  }

  void add_pci(pugi::xml_node pci, std::size_t parent) {
    const auto device_class = class_of(pci, "class");
    check_children(pci, {"pci", "gpu", "nic", "pcilink"});
    Node node;
    node.pci = address_of(pci);
    const auto vendor = hexadecimal(pci, "vendor").value_or(0);
    if (pci.child("gpu") || is_gpu_for_jobs(vendor, device_class)) {
      if (has_several(pci, "gpu") || pci.child("nic")) {
        graph_.warnings.push_back(
            fmt::format("{} has more than one device: only its first <gpu> is taken", shown(pci)));
      }
      node.vendor = gpu_vendor(vendor);
      add_gpu(pci, std::move(node), parent);
    } else if (pci.child("nic") || is_nic(device_class)) {
      add_nics(pci, std::move(node), parent);
    } else if (device_class == class_bridge && pci.child("pci")) {
      node.kind = NodeKind::bridge;
      node.name = free_name(graph_, "switch " + node.pci);
      const auto bridge = graph_.add(std::move(node));
      attach_pcie(graph_, bridge, parent, link_of(pci), "PCIe speed unknown");
      for (const auto below : pci.children("pci")) add_pci(below, bridge);
    }
  }

  void add_gpu(pugi::xml_node pci, Node node, std::size_t parent) {
    const auto gpu = pci.child("gpu");
    node.kind = NodeKind::gpu;
    const int number = whole_number(gpu, "dev").value_or(-1);
    if (number >= 0) {
      node.name = fmt::format("GPU{}", number);
      check_free(graph_, node.name);
    }
    const auto index = graph_.add(std::move(node));
    attach_pcie(graph_, index, parent, link_of(pci), "PCIe speed unknown");
    gpus_[index] = gpu;
  }

  /// The nets of one card share its link, below a node of their own. A card need not have any.
  void add_nics(pugi::xml_node pci, Node port, std::size_t parent) {
    std::vector<pugi::xml_node> nets;
    for (const auto nic : pci.children("nic")) {
      for (const auto net : nic.children("net")) nets.push_back(net);
    }
    if (nets.size() < 2) return add_net(nets.empty() ? pugi::xml_node() : nets[0], pci, parent);
    port.kind = NodeKind::bridge;
    port.name = free_name(graph_, "port " + port.pci);
    port.pci.clear();
    const auto shared = graph_.add(std::move(port));
    attach_pcie(graph_, shared, parent, link_of(pci), "PCIe speed unknown");
    for (const auto net : nets) add_net(net, pci, shared);
  }

  /// `pci` is empty for a NIC that is not on PCI.
  void add_net(pugi::xml_node net, pugi::xml_node pci, std::size_t parent) {
    Node node;
    node.kind = NodeKind::nic;
    node.pci = pci_address(pci, "busid");
    node.name = net.attribute("name").value();
    if (node.name.empty()) node.name = free_name(graph_, "NIC " + node.pci);
    check_free(graph_, node.name);
    // NCCL's sockets have no ports, RDMA's begin with 1.
    if (const auto port = whole_number(net, "port")) node.rdma = *port > 0;
    const auto index = graph_.add(std::move(node));
    attach_pcie(graph_, index, parent, link_of(pci), "PCIe speed unknown");
    // Mb/s.
    attach_cable(graph_, index, ethernet_capacity(megabits_of(net)));
  }

  static std::uint64_t megabits_of(pugi::xml_node net) {
    const int speed = whole_number(net, "speed").value_or(0);
    if (speed < 0) refuse_attribute(net, "speed", "Mb/s");
    return static_cast<std::uint64_t>(speed);
  }

  /// <c2c bw="44712" count="10"/>: what NVML says of a link in MB/s one way, and how many are up.
  void add_c2c(std::size_t gpu, pugi::xml_node element) {
    const auto c2c = element.child("c2c");
    if (!c2c) return;
    constexpr int most = 1'000'000;
    const int megabytes_per_s = whole_number(c2c, "bw").value_or(0);
    const int count = whole_number(c2c, "count").value_or(0);
    if (megabytes_per_s < 1 || megabytes_per_s > most || count < 1 || count > most_links) {
      throw Failure(Exit::usage,
                    fmt::format("NCCL XML: {} has a c2c of bw '{}', count '{}': expected MB/s of a "
                                "link and how many there are",
                                graph_.nodes[gpu].name, c2c.attribute("bw").value(),
                                c2c.attribute("count").value()));
    }
    set_c2c(graph_, gpu,
            {count * megabytes_per_s / 1e3,
             fmt::format("NVLink-C2C: {} links of {} MB/s by NVML", count, megabytes_per_s)});
  }

  /// Empty for a switch that a virtual machine hides: "fffffff:ff:ff.0", or no address.
  static std::string target_of(pugi::xml_node link) {
    auto pci = pci_address(link, "target");
    return pci.find(":ff:ff.") == std::string::npos ? pci : "";
  }

  void add_links(std::size_t gpu, pugi::xml_node element) {
    std::map<std::size_t, int> counts;
    for (const auto link : element.children("nvlink")) {
      const int count = whole_number(link, "count").value_or(0);
      if (count < 1 || count > most_links) {
        throw Failure(Exit::usage,
                      fmt::format("NCCL XML: {} has an nvlink of count '{}': expected 1 or more",
                                  graph_.nodes[gpu].name, link.attribute("count").value()));
      }
      const auto pci = target_of(link);
      auto target = graph_.find_pci(pci);
      const auto target_class = class_of(link, "tclass");
      const bool found = target != Node::none && graph_.nodes[target].kind == NodeKind::gpu;
      if (!found && target_class == class_nvswitch) {
        target = switch_at(graph_, pci);
      } else if (!found) {
        // Else a processor of IBM's.
        if (is_gpu_for_jobs(0, target_class)) {
          graph_.warnings.push_back(
              fmt::format("{} has NVLinks to a GPU at {}, which is not in the "
                          "file: left out",
                          graph_.nodes[gpu].name, pci));
        }
        continue;
      }
      if (target == gpu) {
        self_linked_.insert(graph_.nodes[gpu].name);
      } else if (!counts.emplace(target, count).second) {
        throw Failure(Exit::usage, fmt::format("NCCL XML: {} has NVLinks to {} twice",
                                               graph_.nodes[gpu].name, graph_.nodes[target].name));
      }
    }
    const auto* generation = nvlink_of_compute_capability(whole_number(element, "sm").value_or(0));
    int sum = 0;
    for (const auto& [target, count] : counts) sum += count;
    if (generation != nullptr && sum > most_nvlinks(generation)) {
      graph_.warnings.push_back(
          fmt::format("{} has {} NVLinks: no GPU of its kind has more than {}",
                      graph_.nodes[gpu].name, sum, most_nvlinks(generation)));
    }
    add_nvlinks(graph_, gpu, counts, generation);
  }

  /// What lies between the GPUs is not known then.
  void warn_of_unread_links() {
    const bool xgmi = std::ranges::any_of(
        gpus_, [](const auto& gpu) { return static_cast<bool>(gpu.second.child("xgmi")); });
    if (xgmi) {
      graph_.source = "RCCL XML";
      graph_.unread_gpu_links = "xGMI links";
      graph_.warnings.emplace_back(
          "its xGMI links between GPUs are left out, so there is no peak between GPUs");
    }
    if (self_linked_.empty()) return;
    graph_.unread_gpu_links = "NVLinks";
    graph_.warnings.push_back(fmt::format(
        "NVLinks to the GPU that has them ({}) are left out, so there is no peak between GPUs: "
        "where they lead is not known",
        fmt::join(self_linked_, ", ")));
  }

  Graph graph_ = graph_of_host("NCCL XML");
  std::set<std::string> self_linked_;
  std::string between_;
  std::set<std::string> addresses_;
  std::map<std::size_t, pugi::xml_node> gpus_;
};

}  // namespace

Graph graph_from_nccl_xml(std::string_view xml) {
  pugi::xml_document document;
  return NcclReader().read(parse_xml(xml, document));
}

}  // namespace ucxbench
