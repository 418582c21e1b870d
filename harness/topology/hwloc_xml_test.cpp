#include "harness/topology/hwloc_xml.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

std::string topology(const std::string& version, const std::string& objects) {
  return "<topology" + version + "><object type=\"Machine\" cpuset=\"0x0000000f\">" + objects +
         "</object></topology>";
}

std::string nic(const std::string& pci, const std::string& name, int kind) {
  return "<object type=\"PCIDev\" pci_busid=\"" + pci +
         "\" pci_type=\"0200 [15b3:1017]\" pci_link_speed=\"7.876923\"><object type=\"OSDev\" "
         "name=\"" +
         name + "\" osdev_type=\"" + std::to_string(kind) + "\"/></object>";
}

TEST(CpuMask, IsOfWords) {
  EXPECT_EQ(parse_cpu_mask("0x00000005"), (std::vector<int>{0, 2}));
  EXPECT_EQ(parse_cpu_mask("0x00000001,,0x80000000"), (std::vector<int>{31, 64}));
  EXPECT_EQ(parse_cpu_mask("00000000,0000ffff"), parse_cpu_mask("0xffff"));
  EXPECT_EQ(parse_cpu_mask("0x0"), std::vector<int>{});
  for (const char* wrong : {"", "0xf...f", "0xf...f,0x1", "cpu", "0x100000000"}) {
    EXPECT_FALSE(parse_cpu_mask(wrong)) << wrong;
  }
  EXPECT_TRUE(is_part_of({1, 2}, {0, 1, 2}));
  EXPECT_FALSE(is_part_of({1, 3}, {0, 1, 2}));
  EXPECT_FALSE(is_part_of({}, {0, 1, 2}));
}

// In hwloc 1 a NUMA node holds its processors and devices; later it stands beside them.
TEST(HwlocXml, NumaNodesHoldOrStandBeside) {
  const auto bridge = [](const std::string& pci, const std::string& name) {
    return "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0000:[" + pci.substr(5, 2) +
           "-ff]\">" + nic(pci, name, 2) + "</object>";
  };
  const auto one = bridge("0000:10:00.0", "eth0");
  const auto two = bridge("0000:80:00.0", "eth1");
  const auto old_form = graph_from_hwloc_xml(
      topology("",
               "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"><object type=\"Socket\" "
               "os_index=\"0\" "
               "cpuset=\"0x3\"/>" +
                   one + "</object><object type=\"NUMANode\" os_index=\"1\" cpuset=\"0xc\">" + two +
                   "</object>"));
  const auto new_form = graph_from_hwloc_xml(
      topology(" version=\"2.0\"",
               "<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\"><object type=\"NUMANode\" "
               "os_index=\"0\" cpuset=\"0x3\"/>" +
                   one +
                   "</object><object type=\"Package\" os_index=\"1\" "
                   "cpuset=\"0xc\"><object type=\"NUMANode\" os_index=\"1\" cpuset=\"0xc\"/>" +
                   two + "</object>"));
  for (const auto& graph : {old_form, new_form}) {
    const auto nics = graph.of_kind(NodeKind::nic);
    ASSERT_EQ(nics.size(), 2U);
    EXPECT_EQ(numa_of(graph, nics[0]), 0);
    EXPECT_EQ(numa_of(graph, nics[1]), 1);
    EXPECT_EQ(to_string(class_between(graph, nics[0], nics[1])), "SYS");
    EXPECT_EQ(nearest_cpus(graph, nics[1]), (std::vector<int>{2, 3}));
    EXPECT_NE(graph.find_name("pci0000:80"), Node::none);
  }
}

TEST(HwlocXml, KindsOfDevicesAreRenumberedInVersion3) {
  const auto name_of = [](const std::string& version, int network, int rdma) {
    const auto text = nic("0000:10:00.0", "eth0", network);
    const auto end = text.rfind("</object>");
    const auto both = text.substr(0, end) + "<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"" +
                      std::to_string(rdma) + "\"/>" + text.substr(end);
    const auto graph = graph_from_hwloc_xml(topology(version, both));
    const auto& node = graph.nodes[graph.of_kind(NodeKind::nic).at(0)];
    return node.name + "/" + node.alias;
  };
  EXPECT_EQ(name_of(" version=\"2.0\"", 2, 3), "mlx5_0/eth0");
  EXPECT_EQ(name_of(" version=\"3.0\"", 16, 32), "mlx5_0/eth0");
  // Bits: an RDMA device is a network, too.
  EXPECT_EQ(name_of(" version=\"3.0\"", 16, 48), "mlx5_0/eth0");
  EXPECT_EQ(name_of(" version=\"3.0\"", 24, 56), "mlx5_0/eth0");
}

TEST(HwlocXml, OnlyRdmaDevicesHavePorts) {
  const auto device = [](int kind) {
    const auto graph =
        graph_from_hwloc_xml(topology(" version=\"3.0\"", nic("0000:10:00.0", "ibs1", kind)));
    return ucx_device_of(graph.nodes[graph.find_name("ibs1")]);
  };
  EXPECT_EQ(device(48), "ibs1:1");
  EXPECT_EQ(device(16), "");
}

// Of a server's management chip, of a processor's own GPU, of a desktop.
TEST(HwlocXml, DisplayAdaptersAreNoGpusOfJobs) {
  const auto gpus = [](const std::string& type, const std::string& below = "") {
    const auto graph =
        graph_from_hwloc_xml(topology(" version=\"2.0\"",
                                      "<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" "
                                      "pci_type=\"" +
                                          type + "\">" + below + "</object>"));
    std::string vendors;
    for (const auto gpu : graph.of_kind(NodeKind::gpu)) vendors += graph.nodes[gpu].vendor;
    return vendors;
  };
  EXPECT_EQ(gpus("0300 [1002:515e]"), "");
  EXPECT_EQ(gpus("0300 [102b:0532]"), "");
  EXPECT_EQ(gpus("0380 [1002:740f]"), "AMD");
  EXPECT_EQ(gpus("1200 [1002:74a1]"), "AMD");
  EXPECT_EQ(gpus("0300 [1002:744c]", "<object type=\"OSDev\" name=\"rsmi0\"/>"), "AMD");
  EXPECT_EQ(gpus("0300 [10de:1b06]"), "NVIDIA");
  EXPECT_EQ(gpus("0302 [10de:2330]"), "NVIDIA");
}

// Root port, switch, the switch's ports: one switch lies between its two devices. Functions of one
// card share the port's link.
TEST(HwlocXml, PortsBelongToTheLinksBelowThem) {
  const auto port = [](const std::string& pci, const std::string& below) {
    return "<object type=\"Bridge\" bridge_type=\"1-1\" pci_busid=\"" + pci +
           "\" pci_link_speed=\"3.938462\">" + below + "</object>";
  };
  const auto devices =
      port("0000:03:00.0", nic("0000:04:00.0", "eth0", 2) + nic("0000:04:00.1", "eth1", 2)) +
      port("0000:03:01.0", nic("0000:05:00.0", "eth2", 2));
  const auto graph = graph_from_hwloc_xml(
      topology(" version=\"2.0\"",
               "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0xf\"/>"
               "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0000:[00-05]\">" +
                   port("0000:00:01.0", port("0000:02:00.0", devices)) +
                   port("0000:00:02.0", nic("0000:06:00.0", "eth3", 2)) + "</object>"));
  const auto at = [&](const char* name) { return graph.find_name(name); };
  const auto between = [&](const char* a, const char* b) {
    return to_string(class_between(graph, at(a), at(b)));
  };
  EXPECT_EQ(between("eth0", "eth1"), "PIX");
  EXPECT_EQ(between("eth0", "eth2"), "PIX") << "the port of two functions is no switch";
  EXPECT_EQ(between("eth0", "eth3"), "PHB");
  EXPECT_EQ(graph.nodes[graph.parent_of(at("eth2"))].name, "switch 0000:02:00.0");
  EXPECT_EQ(graph.nodes[graph.parent_of(at("eth0"))].name, "port 0000:03:00.0");
  EXPECT_EQ(graph.nodes[graph.parent_of(at("eth3"))].name, "pci0000:00");
  // The switch hangs by its own link; the device's is the device's.
  EXPECT_NEAR(*path_between(graph, at("eth2"), at("eth3")).capacity_GBps, 3.94, 0.01);
}

// Between the root port and the switch stands one bridge more, as virtual machines and old boards
// have it; taking turns by depth makes switches of the switch's ports.
TEST(HwlocXml, LegacyBridgesAreNoSwitches) {
  const auto bridge = [](const std::string& pci, const std::string& below) {
    return "<object type=\"Bridge\" bridge_type=\"1-1\" pci_busid=\"" + pci + "\">" + below +
           "</object>";
  };
  const auto ports = bridge("0000:04:00.0", nic("0000:05:00.0", "eth0", 2)) +
                     bridge("0000:04:01.0", nic("0000:06:00.0", "eth1", 2));
  const auto legacy = nic("0000:09:01.0", "eth2", 2) + nic("0000:09:02.0", "eth3", 2);
  const auto graph = graph_from_hwloc_xml(
      topology(" version=\"2.0\"",
               "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0xf\"/>"
               "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0000:[00-09]\">" +
                   bridge("0000:00:01.0", bridge("0000:02:00.0", bridge("0000:03:00.0", ports))) +
                   bridge("0000:00:02.0", bridge("0000:08:00.0", legacy)) + "</object>"));
  const auto between = [&](const char* a, const char* b) {
    return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
  };
  EXPECT_EQ(between("eth0", "eth1"), "PIX");
  EXPECT_EQ(between("eth2", "eth3"), "PIX");
  EXPECT_EQ(between("eth0", "eth2"), "PHB");
  EXPECT_EQ(graph.nodes[graph.parent_of(graph.find_name("eth0"))].name, "switch 0000:03:00.0");
}

std::string with_nvlinks(const std::string& values) {
  const auto gpu = [](const std::string& number) {
    return "<object type=\"PCIDev\" pci_busid=\"0000:0" + number +
           ":00.0\" pci_type=\"0302 [10de:1db8]\"><object type=\"OSDev\" gp_index=\"" + number +
           "\" name=\"nvml" + number +
           "\"><info name=\"GPUModel\" value=\"Tesla V100-SXM3-32GB\"/></object></object>";
  };
  const auto text = topology(" version=\"2.0\"",
                             gpu("0") + gpu("1") +
                                 "<object type=\"PCIDev\" gp_index=\"7\" subtype=\"NVSwitch\" "
                                 "pci_busid=\"0000:07:00.0\" pci_type=\"0680 [10de:1ac2]\"/>");
  const std::string end = "</topology>";
  return text.substr(0, text.size() - end.size()) +
         "<distances2hetero name=\"NVLinkBandwidth\"><indexes>OSDev:0 OSDev:1 </indexes>"
         "<indexes>PCIDev:7 </indexes>" +
         values + "</distances2hetero>" + end;
}

TEST(HwlocXml, HasNvlinksAsBandwidths) {
  const auto graph = graph_from_hwloc_xml(with_nvlinks(
      "<u64values>0 25000 75000 25000 0 </u64values><u64values>50000 75000 50000 0 </u64values>"));
  EXPECT_EQ(graph.of_kind(NodeKind::nvswitch).size(), 1U);
  const auto path = path_between(graph, graph.find_name("GPU0"), graph.find_name("GPU1"));
  EXPECT_EQ(to_string(path.path_class), "NV3") << "one direct, two through the switch";
  EXPECT_DOUBLE_EQ(path.capacity_GBps.value_or(0), 75);
  EXPECT_EQ(graph.warnings, std::vector<std::string>{});
  EXPECT_THROW(graph_from_hwloc_xml(with_nvlinks("<u64values>0 25000</u64values>")), Failure);
  auto elsewhere = with_nvlinks(
      "<u64values>0 25000 75000 25000 0 </u64values><u64values>50000 75000 50000 0 </u64values>");
  elsewhere.replace(elsewhere.find("OSDev:1 "), 8, "OSDev:9 ");
  EXPECT_EQ(refusal_by([&] { graph_from_hwloc_xml(elsewhere); }),
            "hwloc XML: NVLinkBandwidth names object OSDev:9, which is not in the file");
}

TEST(HwlocXml, HasTheAddressOfAGpuOrNicOnce) {
  const auto at_3b = [](const std::string& type) {
    return "<object type=\"PCIDev\" pci_busid=\"0000:3b:00.0\" pci_type=\"" + type + "\"/>";
  };
  const auto gpu = at_3b("0302 [10de:2330]");
  EXPECT_EQ(refusal_by([&] { graph_from_hwloc_xml(topology("", gpu + gpu)); }),
            "hwloc XML: 0000:3b:00.0 is there twice");
  // Such as a disk controller: only where the GPU stands matters.
  const auto graph = graph_from_hwloc_xml(topology("", at_3b("0104 [8086:2682]") + gpu));
  EXPECT_EQ(graph.of_kind(NodeKind::gpu).size(), 1U);
  EXPECT_EQ(graph.warnings, std::vector<std::string>{"0000:3b:00.0 is the address of two devices: "
                                                     "each is taken where it stands"});
}

TEST(HwlocXml, DoubtsNvlinksThatNoMachineHas) {
  const auto warnings = [](const std::string& values) {
    return graph_from_hwloc_xml(with_nvlinks("<u64values>" + values + " 0 0 0</u64values>"))
        .warnings;
  };
  using Lines = std::vector<std::string>;
  const std::string one_way = " MB/s, 50000 back: no machine is wired so";
  for (const std::string forth : {"25000", "0"}) {
    const auto lines = warnings("0 " + forth + " 0 50000 0 0");
    ASSERT_EQ(lines.size(), 1U) << forth;
    EXPECT_NE(lines[0].find("no machine is wired so"), std::string::npos) << lines[0];
  }
  EXPECT_EQ(warnings("0 25000 0 50000 0 0"),
            Lines{"NVLinkBandwidth from 0000:00:00.0 to 0000:01:00.0 is 25000" + one_way});
  EXPECT_EQ(warnings("0 25000000 0 25000000 0 0"),
            (Lines{"NVLinkBandwidth of 0000:00:00.0 is 25000000 MB/s, which no links are: left out",
                   "NVLinkBandwidth of 0000:01:00.0 is 25000000 MB/s, which no links are: left "
                   "out"}));
}

TEST(HwlocXml, NumaNodesHaveNumbersOfTheirOwn) {
  const auto numa = [](const std::string& index) {
    return "<object type=\"NUMANode\" os_index=\"" + index + "\" cpuset=\"0x" + index + "\"/>";
  };
  const auto refusal = [](const std::string& xml) {
    return refusal_by([&] { graph_from_hwloc_xml(topology(" version=\"2.0\"", xml)); });
  };
  EXPECT_EQ(refusal(numa("1") + numa("2")), "accepted");
  EXPECT_EQ(refusal(numa("1") + numa("1")), "hwloc XML: two NUMA nodes of os_index 1");
}

TEST(HwlocXml, NeedsAMachine) {
  for (const char* xml : {"<topology/>", "<topology><object type=\"Core\"/></topology>"}) {
    EXPECT_THROW(graph_from_hwloc_xml(xml), Failure) << xml;
  }
}

}  // namespace
}  // namespace ucxbench
