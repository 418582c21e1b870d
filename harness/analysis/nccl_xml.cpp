#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <pugixml.hpp>

#include "harness/analysis/import.hpp"
#include "harness/core/failure.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/xml.hpp"

namespace ucxbench {
namespace {

constexpr unsigned class_bridge = 0x0604;
constexpr unsigned class_nvswitch = 0x0680;

/// "0x030200" is 0x0302.
unsigned class_of(pugi::xml_node element, const char* attribute) {
  return element.attribute(attribute).as_uint() >> 8U;
}

bool is_gpu(unsigned device_class) { return device_class == 0x0300 || device_class == 0x0302; }
bool is_nic(unsigned device_class) { return device_class == 0x0200 || device_class == 0x0207; }

/// "16.0 GT/s PCIe" or "8 GT/s", and the lanes; both may be empty.
std::optional<Capacity> link_of(pugi::xml_node pci) {
  const std::string_view text = pci.attribute("link_speed").value();
  double speed = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), speed).ec != std::errc{}) {
    return std::nullopt;
  }
  return pcie_capacity(speed, pci.attribute("link_width").as_int());
}

class NcclReader {
 public:
  Graph read(pugi::xml_node root) {
    std::vector<std::size_t> numas;
    const std::string host = root.child("cpu").attribute("host_hash").value();
    for (const auto cpu : root.children("cpu")) {
      if (cpu.attribute("host_hash").value() != host) {
        throw Failure(Exit::usage, "NCCL XML of several hosts: give one host's");
      }
      numas.push_back(add_numa(cpu));
      between_ =
          socket_link_text(cpu.attribute("vendor").value(), cpu.attribute("familyid").as_int(),
                           cpu.attribute("modelid").as_int());
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
    for (const auto& [gpu, element] : gpus_) add_links(gpu, element);
    return std::move(graph_);
  }

 private:
  std::size_t add_numa(pugi::xml_node cpu) {
    Node node;
    node.kind = NodeKind::numa;
    const int number = cpu.attribute("numaid").as_int(-1);
    if (number >= 0) node.numa_node = number;
    node.name = free_name(graph_, number < 0 ? "NUMA?" : fmt::format("NUMA{}", number));
    node.cpus = parse_cpu_mask(cpu.attribute("affinity").value());
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
    for (const auto nic : cpu.children("nic")) add_nic(nic, {}, bridge);
  }

  void add_pci(pugi::xml_node pci, std::size_t parent) {
    const auto device_class = class_of(pci, "class");
    Node node;
    node.pci = normal_pci(pci.attribute("busid").value());
    if (pci.child("gpu") || is_gpu(device_class)) {
      add_gpu(pci, std::move(node), parent);
    } else if (pci.child("nic") || is_nic(device_class)) {
      add_nic(pci.child("nic"), pci, parent);
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
    const int number = gpu.attribute("dev").as_int(-1);
    if (number >= 0) node.name = free_name(graph_, fmt::format("GPU{}", number));
    const auto index = graph_.add(std::move(node));
    attach_pcie(graph_, index, parent, link_of(pci), "PCIe speed unknown");
    gpus_[index] = gpu;
  }

  /// `pci` is empty for a NIC that is not on PCI.
  void add_nic(pugi::xml_node nic, pugi::xml_node pci, std::size_t parent) {
    const auto net = nic.child("net");
    Node node;
    node.kind = NodeKind::nic;
    node.pci = normal_pci(pci.attribute("busid").value());
    node.name = net.attribute("name").value();
    if (node.name.empty()) node.name = "NIC " + node.pci;
    node.name = free_name(graph_, node.name);
    const auto index = graph_.add(std::move(node));
    attach_pcie(graph_, index, parent, link_of(pci), "PCIe speed unknown");
    // Mb/s.
    attach_cable(graph_, index, ethernet_capacity(net.attribute("speed").as_uint()));
  }

  void add_links(std::size_t gpu, pugi::xml_node element) {
    constexpr int most_links = 99;
    std::map<std::size_t, int> counts;
    for (const auto link : element.children("nvlink")) {
      const int count = link.attribute("count").as_int();
      if (count < 1 || count > most_links) {
        throw Failure(Exit::usage,
                      fmt::format("NCCL XML: {} has an nvlink of count '{}': expected 1 or more",
                                  graph_.nodes[gpu].name, link.attribute("count").value()));
      }
      const auto pci = normal_pci(link.attribute("target").value());
      const auto target = graph_.find_pci(pci);
      if (target != Node::none && graph_.nodes[target].kind == NodeKind::gpu) {
        counts[target] += count;
      } else if (class_of(link, "tclass") == class_nvswitch) {
        counts[switch_at(graph_, pci)] += count;
      }
    }
    const int capability = element.attribute("sm").as_int() / 10;
    add_nvlinks(graph_, gpu, counts, nvlink_of_compute_capability(capability));
  }

  Graph graph_ = graph_of_host("NCCL XML");
  std::string between_;
  std::map<std::size_t, pugi::xml_node> gpus_;
};

}  // namespace

Graph graph_from_nccl_xml(std::string_view xml) {
  pugi::xml_document document;
  return NcclReader().read(parse_xml(xml, document));
}

}  // namespace ucxbench
