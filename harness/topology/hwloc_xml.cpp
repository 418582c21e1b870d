#include "harness/topology/hwloc_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <pugixml.hpp>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/hwloc_nvlinks.hpp"
#include "harness/topology/xml.hpp"

namespace ucxbench {
namespace {

using Cpus = std::vector<int>;

constexpr unsigned class_network = 0x02;

std::string_view attribute(pugi::xml_node object, const char* name) {
  return object.attribute(name).value();
}

std::string_view type_of(pugi::xml_node object) { return attribute(object, "type"); }

std::string info(pugi::xml_node object, const char* name) {
  return object.find_child_by_attribute("info", "name", name).attribute("value").value();
}

int number_in_info(pugi::xml_node object, const char* name) {
  return std::atoi(info(object, name).c_str());
}

/// Of every version of hwloc; caches are further ones.
bool is_known_type(std::string_view type) {
  constexpr std::array<std::string_view, 15> types = {
      "System", "Machine", "Package", "Socket", "Die",   "NUMANode", "Group",   "Core",
      "PU",     "Cache",   "Bridge",  "PCIDev", "OSDev", "Misc",     "MemCache"};
  return std::find(types.begin(), types.end(), type) != types.end() ||
         (type.starts_with('L') && type.ends_with("Cache"));
}

/// 1 of "0000:03:01.0".
std::string device_number(pugi::xml_node object) {
  const auto pci = pci_address(object, "pci_busid");
  return pci.substr(0, pci.find('.'));
}

/// The number that follows `word`: 2 of "nvml2" and "nvml".
std::optional<int> number_behind(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return std::nullopt;
  int number = 0;
  const auto* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + word.size(), end, number);
  return error == std::errc{} && rest == end && number >= 0 ? std::optional(number) : std::nullopt;
}

/// Whether a driver of that name has numbered the device.
bool has_number(pugi::xml_node object, std::string_view driver) {
  const auto devices = object.children("object");
  return std::any_of(devices.begin(), devices.end(), [&](pugi::xml_node device) {
    return number_behind(attribute(device, "name"), driver).has_value();
  });
}

/// A part of the PCI tree that leads to GPUs or NICs.
struct PciPart {
  Node node;
  std::optional<Capacity> link;  ///< to what is above
  std::vector<PciPart> below;
};

std::optional<Capacity> link_speed(pugi::xml_node object) {
  const std::string_view text = attribute(object, "pci_link_speed");
  if (text.empty()) return std::nullopt;
  double speed = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  if (error != std::errc{} || rest != text.data() + text.size() || !(speed >= 0 && speed < 1e4)) {
    refuse_attribute(object, "pci_link_speed", "GB/s");
  }
  // As where the link is down or is inside the processor.
  if (speed == 0) return std::nullopt;
  return Capacity{speed, "PCIe as trained when hwloc looked"};
}

class HwlocReader {
 public:
  Graph read(pugi::xml_node root) {
    kinds_are_bits_ = attribute(root, "version").starts_with("3");
    const auto machine = root.child("object");
    if (type_of(machine) != "Machine" && type_of(machine) != "System") {
      throw Failure(Exit::usage,
                    "hwloc XML that does not begin with a machine: its first object must be of "
                    "type Machine");
    }
    check_objects(machine);
    find_processors(machine);
    attach_processors();
    find_devices(machine, {});
    name_gpus(graph_);
    add_hwloc_nvlinks(graph_, root);
    return std::move(graph_);
  }

 private:
  void check_objects(pugi::xml_node object) {
    if (!is_known_type(type_of(object))) {
      graph_.warnings.push_back(
          fmt::format("{}: hwloc has no objects of such a type: left out", shown(object)));
    }
    const auto pci = pci_address(object, "pci_busid");
    if (!pci.empty() && !addresses_.insert(pci).second) {
      graph_.warnings.push_back(
          fmt::format("{} is the address of two devices: each is taken where it stands", pci));
    }
    for (const auto child : object.children("object")) check_objects(child);
  }

  void find_processors(pugi::xml_node object) {
    const auto type = type_of(object);
    const bool socket = type == "Package" || type == "Socket";
    if (socket || type == "NUMANode") {
      Node node;
      node.kind = socket ? NodeKind::socket : NodeKind::numa;
      const int index = whole_number(object, "os_index").value_or(-1);
      if (!socket && index >= 0) {
        const auto same = std::ranges::find_if(
            numas_, [&](std::size_t numa) { return graph_.nodes[numa].numa_node == index; });
        if (same != numas_.end()) {
          throw Failure(Exit::usage,
                        fmt::format("hwloc XML: two NUMA nodes of os_index {}", index));
        }
        node.numa_node = index;
      }
      node.name = free_name(graph_, fmt::format("{}{}", socket ? "socket" : "NUMA", index));
      node.cpus = cpu_mask(object, "cpuset");
      if (socket) {
        node.model = info(object, "CPUModel");
        between_sockets_ =
            socket_link_text(info(object, "CPUVendor"), number_in_info(object, "CPUFamilyNumber"),
                             number_in_info(object, "CPUModelNumber"));
      }
      (socket ? sockets_ : numas_).push_back(graph_.add(std::move(node)));
    }
    for (const auto child : object.children("object")) find_processors(child);
  }

  void attach_processors() {
    const auto attach = [&](std::size_t node, bool alone) {
      if (alone) {
        attach_inside(graph_, node, 0);
      } else {
        attach_across(graph_, node, 0, between_sockets_);
      }
    };
    for (const auto socket : sockets_) attach(socket, sockets_.size() == 1);
    for (const auto numa : numas_) {
      const auto socket = holder_of(sockets_, graph_.nodes[numa].cpus.value_or(Cpus()));
      if (socket != Node::none) {
        attach_inside(graph_, numa, socket);
      } else {
        attach(numa, numas_.size() == 1);
      }
    }
  }

  std::size_t holder_of(const std::vector<std::size_t>& nodes, const Cpus& cpus) const {
    for (const auto node : nodes) {
      if (graph_.nodes[node].cpus && is_part_of(cpus, *graph_.nodes[node].cpus)) return node;
    }
    return Node::none;
  }

  /// What devices near these CPUs hang from.
  std::size_t place_of(const Cpus& cpus) const {
    if (numas_.size() == 1) return numas_.front();
    for (const auto* nodes : {&numas_, &sockets_}) {
      if (const auto holder = holder_of(*nodes, cpus); holder != Node::none) return holder;
    }
    return 0;
  }

  void find_devices(pugi::xml_node object, Cpus near) {
    if (auto own = cpu_mask(object, "cpuset")) near = std::move(*own);
    for (const auto child : object.children("object")) {
      if (type_of(child) == "Bridge") {
        add_host_bridge(child, near);
      } else if (auto device = part_of(child, false)) {
        add(*device, place_of(near));
      } else {
        find_devices(child, near);
      }
    }
  }

  void add_host_bridge(pugi::xml_node object, const Cpus& near) {
    const auto parts = parts_below(object, false);
    if (parts.empty()) return;
    Node node;
    node.kind = NodeKind::host_bridge;
    // "0000:[00-1f]", of which the kernel makes the name pci0000:00.
    const auto buses = attribute(object, "bridge_pci");
    const auto domain = buses.substr(0, buses.find(':'));
    const auto open = buses.find('[');
    const auto bus = open == std::string_view::npos ? "" : buses.substr(open + 1, 2);
    node.name = free_name(graph_, fmt::format("pci{}:{}", domain, bus));
    const auto bridge = graph_.add(std::move(node));
    attach_inside(graph_, bridge, place_of(near));
    for (const auto& part : parts) add(part, bridge);
  }

  void add(const PciPart& part, std::size_t parent) {
    auto node = part.node;
    // Of other devices nothing is said by their address.
    if (graph_.find_pci(node.pci) != Node::none) {
      throw Failure(Exit::usage, fmt::format("hwloc XML: {} is there twice", node.pci));
    }
    if (!node.name.empty()) check_free(graph_, node.name);
    const auto index = graph_.add(std::move(node));
    attach_pcie(graph_, index, parent, part.link, "PCIe speed unknown");
    for (const auto& below : part.below) add(below, index);
    const auto& added = graph_.nodes[index];
    if (const auto c2c = c2c_of_model(added.model); c2c && added.kind == NodeKind::gpu) {
      set_c2c(graph_, index, *c2c);
    }
    if (graph_.nodes[index].kind == NodeKind::nic) attach_cable(graph_, index, std::nullopt);
  }

  std::vector<PciPart> parts_below(pugi::xml_node object, bool below_port) const {
    std::vector<PciPart> parts;
    for (const auto child : object.children("object")) {
      if (auto part = part_of(child, below_port)) parts.push_back(std::move(*part));
    }
    return parts;
  }

  /// Ports and switches take turns: a root port, a switch, one of the switch's ports, … Legacy and
  /// virtual bridges stand between them, and are seen by what is right below: several bridges at
  /// different numbers are the ports of a switch, and a device is below a port.
  static bool is_port(pugi::xml_node bridge, bool below_port) {
    std::set<std::string> bridges;
    bool devices = false;
    for (const auto child : bridge.children("object")) {
      if (type_of(child) == "Bridge") bridges.insert(device_number(child));
      devices |= type_of(child) == "PCIDev";
    }
    if (bridges.size() > 1) return false;
    return devices || !below_port;
  }

  /// Empty for what leads to no GPU or NIC. A port belongs to the link below it, so it is a node
  /// only where several functions of a card share it.
  std::optional<PciPart> part_of(pugi::xml_node object, bool below_port) const {
    if (type_of(object) == "PCIDev") return device_of(object);
    if (type_of(object) != "Bridge") return std::nullopt;
    PciPart part;
    const bool port = is_port(object, below_port);
    part.below = parts_below(object, port);
    if (part.below.empty()) return std::nullopt;
    if (port && part.below.size() == 1) {
      auto only = std::move(part.below.front());
      return only;
    }
    part.node.kind = NodeKind::bridge;
    part.node.pci = pci_address(object, "pci_busid");
    part.node.name = fmt::format("{} {}", port ? "port" : "switch", part.node.pci);
    part.link = port ? part.below.front().link : link_speed(object);
    return part;
  }

  std::optional<PciPart> device_of(pugi::xml_node object) const {
    PciPart part;
    part.node.pci = pci_address(object, "pci_busid");
    part.link = link_speed(object);
    // "0302 [10de:15f9] …": class and vendor.
    const auto type = attribute(object, "pci_type");
    unsigned device_class = 0;
    const auto [rest, error] =
        std::from_chars(type.data(), type.data() + type.size(), device_class, 16);
    if (!type.empty() && (error != std::errc{} || !std::string_view(rest).starts_with(" ["))) {
      refuse_attribute(object, "pci_type", "class, vendor and device, as 0302 [10de:20b0]");
    }
    const auto base_class = device_class >> 8U;
    const auto open = type.find('[');
    const auto vendor =
        open == std::string_view::npos
            ? 0U
            : static_cast<unsigned>(std::strtoul(type.data() + open + 1, nullptr, 16));
    const bool gpu = is_gpu_for_jobs(vendor, device_class) || has_number(object, "rsmi");
    part.node.vendor = gpu ? gpu_vendor(vendor) : "";
    if (!(gpu ? read_gpu(object, part.node) : read_nic(object, base_class, part.node))) {
      return std::nullopt;
    }
    if (part.node.model.empty()) part.node.model = info(object, "PCIDevice");
    return part;
  }

  /// Its number by the driver that hwloc asked, NVML's first: CUDA hides and sorts devices.
  static bool read_gpu(pugi::xml_node object, Node& node) {
    node.kind = NodeKind::gpu;
    for (const char* driver : {"nvml", "rsmi", "cuda"}) {
      for (const auto device : object.children("object")) {
        const auto number = number_behind(attribute(device, "name"), driver);
        if (!number || !node.name.empty()) continue;
        node.name = fmt::format("GPU{}", *number);
        node.model = info(device, "GPUModel");
      }
    }
    return true;
  }

  enum class DeviceKind { network, rdma, other };

  /// hwloc 3 has a bit for each kind, and gives an RDMA device that of networks, too.
  DeviceKind kind_of(pugi::xml_node device) const {
    constexpr int network_bit = 16;
    constexpr int rdma_bit = 32;
    const int type = whole_number(device, "osdev_type").value_or(0);
    if (kinds_are_bits_ ? (type & rdma_bit) != 0 : type == 3) return DeviceKind::rdma;
    if (kinds_are_bits_ ? (type & network_bit) != 0 : type == 2) return DeviceKind::network;
    return DeviceKind::other;
  }

  bool read_nic(pugi::xml_node object, unsigned base_class, Node& node) const {
    node.kind = NodeKind::nic;
    for (const auto device : object.children("object")) {
      const auto kind = kind_of(device);
      const std::string name(attribute(device, "name"));
      if (kind == DeviceKind::rdma && node.name.empty()) node.name = name;
      if (kind == DeviceKind::network && node.alias.empty()) node.alias = name;
    }
    if (!node.name.empty() || !node.alias.empty()) node.rdma = !node.name.empty();
    if (node.name.empty()) std::swap(node.name, node.alias);
    if (!node.name.empty()) return true;
    node.name = "NIC " + node.pci;
    return base_class == class_network;
  }

  Graph graph_ = graph_of_host("hwloc XML");
  std::set<std::string> addresses_;
  bool kinds_are_bits_ = false;
  std::vector<std::size_t> sockets_;
  std::vector<std::size_t> numas_;
  std::string between_sockets_ = "links between sockets unknown";
};

}  // namespace

Graph graph_from_hwloc_xml(std::string_view xml) {
  pugi::xml_document document;
  return HwlocReader().read(parse_xml(xml, document));
}

}  // namespace ucxbench
