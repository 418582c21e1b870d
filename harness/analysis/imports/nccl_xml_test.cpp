#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

std::string nccl_between(const Graph& graph, const std::string& a, const std::string& b) {
  return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
}

Path path(const Graph& graph, const std::string& a, const std::string& b) {
  return path_between(graph, graph.find_name(a), graph.find_name(b));
}

TEST(NcclXml, OfDgx1HasCapacities) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU3").capacity_GBps.value_or(0), 50);
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU1").capacity_GBps.value_or(0), 25);
  EXPECT_NEAR(path(graph, "GPU0", "mlx5_0").capacity_GBps.value_or(0), 15.75, 0.01);
  EXPECT_TRUE(path(graph, "GPU0", "mlx5_2").complete);
  const auto across = path(graph, "GPU0", "GPU5");
  EXPECT_EQ(to_string(across.path_class), "SYS");
  EXPECT_FALSE(across.complete);
  // Broadwell.
  const auto memory = path(graph, "NUMA0", "NUMA1");
  EXPECT_NE(memory.source.find("QPI 9.6"), std::string::npos) << memory.source;
  EXPECT_EQ(nearest_cpus(graph, graph.find_name("mlx5_1")),
            nearest_cpus(graph, graph.find_name("GPU4")));
}

TEST(NcclXml, NvlinksGoThroughTheSwitchesThatItNames) {
  const auto graph = import_topology(fixture("h100-nvswitch.nccl.xml"));
  EXPECT_EQ(graph.of_kind(NodeKind::nvswitch).size(), 4U);
  EXPECT_EQ(nccl_between(graph, "GPU0", "GPU7"), "NV18");
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU7").capacity_GBps.value_or(0), 450);
  EXPECT_EQ(nccl_between(graph, "GPU3", "mlx5_3"), "PIX");
  EXPECT_NEAR(path(graph, "GPU3", "mlx5_3").capacity_GBps.value_or(0), 63, 0.02);
}

TEST(NcclXml, OfPcieAlone) {
  const auto graph = import_topology(fixture("pcie-only.nccl.xml"));
  EXPECT_EQ(nccl_between(graph, "GPU0", "GPU1"), "PIX");
  EXPECT_EQ(nccl_between(graph, "GPU0", "GPU2"), "SYS");
  EXPECT_EQ(nccl_between(graph, "GPU1", "mlx5_0"), "PHB");
  EXPECT_NEAR(path(graph, "GPU1", "mlx5_0").capacity_GBps.value_or(0), 15.75, 0.01);
}

TEST(NcclXml, LinksAreAsFastAsTheirGpusMakeThem) {
  const auto capacity = [](const std::string& sm) {
    const auto gpu = [&](const std::string& dev, const std::string& other) {
      return "<pci busid=\"0000:0" + dev + ":00.0\" class=\"0x030200\"><gpu dev=\"" + dev +
             "\" sm=\"" + sm + "\"><nvlink target=\"0000:0" + other +
             ":00.0\" count=\"4\" tclass=\"0x030200\"/></gpu></pci>";
    };
    const auto graph = graph_from_nccl_xml("<system><cpu numaid=\"0\">" + gpu("0", "1") +
                                           gpu("1", "0") + "</cpu></system>");
    return path(graph, "GPU0", "GPU1").capacity_GBps;
  };
  EXPECT_DOUBLE_EQ(capacity("80").value_or(0), 100);
  EXPECT_DOUBLE_EQ(capacity("86").value_or(0), 56.25);
  EXPECT_FALSE(capacity("89"));
}

/// As GH200 has it; PCIe's speed is what such GPUs say of it.
std::string grace_hopper(const std::string& c2c) {
  return "<system><cpu numaid=\"0\" arch=\"arm64\"><pci busid=\"0009:01:00.0\" "
         "class=\"0x030200\" link_speed=\"2.5 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" "
         "sm=\"90\">" +
         c2c + "</gpu></pci></cpu></system>";
}

TEST(NcclXml, NvlinkC2cIsTheWayToTheProcessor) {
  const auto to_memory = [](const std::string& c2c) {
    const auto graph = graph_from_nccl_xml(grace_hopper(c2c));
    return path(graph, "GPU0", "NUMA0").capacity_GBps.value_or(0);
  };
  EXPECT_DOUBLE_EQ(to_memory("<c2c bw=\"44712\" count=\"10\"/>"), 447.12);
  EXPECT_DOUBLE_EQ(to_memory(""), 4);
  for (const char* wrong :
       {"<c2c/>", "<c2c bw=\"44712\" count=\"-1\"/>", "<c2c bw=\"x\" count=\"1\"/>"}) {
    EXPECT_NE(refusal_by([&] { to_memory(wrong); }).find("c2c"), std::string::npos) << wrong;
  }
}

/// Of one <cpu> with these devices.
Graph graph_of(const std::string& devices) {
  return graph_from_nccl_xml("<system><cpu numaid=\"0\">" + devices + "</cpu></system>");
}

std::string net(const std::string& name, const std::string& port) {
  return "<net name=\"" + name + "\" speed=\"25000\" port=\"" + port + "\"/>";
}

TEST(NcclXml, EveryNetIsANic) {
  const auto two = net("mlx5_0", "1") + net("mlx5_1", "2");
  for (const auto& card : {"<nic>" + two + "</nic>",
                           "<pci busid=\"0000:01:00.0\" class=\"0x020700\" link_speed=\"8.0 GT/s\" "
                           "link_width=\"8\"><nic>" +
                               two + "</nic></pci>"}) {
    const auto graph = graph_of(card);
    EXPECT_EQ(graph.of_kind(NodeKind::nic).size(), 2U) << card;
    EXPECT_EQ(graph.warnings, std::vector<std::string>{}) << card;
  }
  const auto graph = graph_of("<pci busid=\"0000:01:00.0\"><nic>" + two + "</nic></pci>");
  EXPECT_EQ(nccl_between(graph, "mlx5_0", "mlx5_1"), "PIX");
}

TEST(NcclXml, SocketsHaveNoPorts) {
  const auto graph = graph_of("<nic>" + net("tailscale0", "0") + net("ibp5s0", "0") +
                              net("rdmap0s6", "1") + "</nic>");
  const auto device = [&](const char* name) {
    return ucx_device_of(graph.nodes[graph.find_name(name)]);
  };
  EXPECT_EQ(device("tailscale0"), "");
  EXPECT_EQ(device("ibp5s0"), "");
  EXPECT_EQ(device("rdmap0s6"), "rdmap0s6:1");
}

TEST(NcclXml, ASecondGpuOfADeviceIsNotLostInSilence) {
  const auto graph = graph_of(
      "<pci busid=\"0000:01:00.0\"><gpu dev=\"0\" sm=\"90\"/><gpu dev=\"1\" sm=\"90\"/></pci>");
  EXPECT_EQ(graph.warnings,
            std::vector<std::string>{"<pci busid=\"0000:01:00.0\"> has more than one "
                                     "device: only its first <gpu> is taken"});
}

/// Two GPUs with such links each.
Graph two_gpus(const std::string& first, const std::string& second, const std::string& of_gpu) {
  const auto gpu = [&](const std::string& bus, const std::string& links) {
    return "<pci busid=\"0000:0" + bus +
           ":00.0\" vendor=\"0x1002\" class=\"0x120000\"><gpu dev=\"" + bus + "\" " + of_gpu + ">" +
           links + "</gpu></pci>";
  };
  return graph_of(gpu("0", first) + gpu("1", second));
}

std::string link_to(const std::string& name, const std::string& bus, const std::string& count) {
  return "<" + name + " target=\"0000:0" + bus + ":00.0\" count=\"" + count +
         "\" tclass=\"0x030200\"/>";
}

TEST(NcclXml, LinksThatAreLeftOutLeaveNoPeak) {
  const auto amd = two_gpus(link_to("xgmi", "1", "1"), link_to("xgmi", "0", "1"), "gcn=\"940\"");
  EXPECT_EQ(amd.source, "RCCL XML");
  EXPECT_EQ(amd.nodes[amd.find_name("GPU0")].vendor, "AMD");
  const auto self =
      two_gpus(link_to("nvlink", "0", "12"), link_to("nvlink", "1", "12"), "sm=\"80\"");
  for (const auto& graph : {amd, self}) {
    EXPECT_EQ(graph.warnings.size(), 1U);
    EXPECT_EQ(nccl_between(graph, "GPU0", "GPU1"), "?");
    EXPECT_FALSE(path(graph, "GPU0", "GPU1").capacity_GBps);
  }
  EXPECT_EQ(self.warnings[0],
            "NVLinks to the GPU that has them (GPU0, GPU1) are left out, so there is no peak "
            "between GPUs: where they lead is not known");
}

TEST(NcclXml, SaysNothingOfKindsOfGpusThatAreNotKnown) {
  const auto warnings = [](const std::string& sm) {
    return two_gpus(link_to("nvlink", "1", "36"), link_to("nvlink", "0", "36"), sm).warnings.size();
  };
  EXPECT_EQ(warnings("sm=\"90\""), 2U);
  EXPECT_EQ(warnings("sm=\"130\""), 0U);
}

TEST(NcclXml, SaysWhatIsDamaged) {
  const auto text = text_of(fixture("pcie-only.nccl.xml"));
  const auto changed = [&](const std::string& what, const std::string& by) {
    auto damaged = text;
    const auto at = damaged.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    damaged.replace(at, what.size(), by);
    return refusal_by([&] { import_topology_text(damaged); });
  };
  EXPECT_EQ(changed("affinity=\"00000000,ffffffff\"", "affinity=\"0-31\""),
            "<cpu numaid=\"0\" affinity=\"0-31\" arch=\"x86_64\">: affinity is '0-31', expected a "
            "hexadecimal mask of CPUs");
  EXPECT_EQ(changed("0000:04:00.0", "0000:03:00.0"), "NCCL XML: 0000:03:00.0 is there twice");
  EXPECT_EQ(changed("gpu dev=\"1\"", "gpu dev=\"0\""), "NCCL XML: two devices are called GPU0");
  EXPECT_EQ(changed("name=\"mlx5_0\"", "name=\"&mlx;5_0\""),
            "line 13: '&mlx' is no entity of XML's own: no tool writes a topology so");
}

TEST(NcclXml, SaysWhichLinkOfPcieThereIsNot) {
  const auto refusal = [](const std::string& link) {
    return refusal_by([&] {
      graph_from_nccl_xml(
          "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" "
          "class=\"0x030200\" " +
          link + "/></cpu></system>");
    });
  };
  const std::string of_pci = "<pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"";
  const std::string good = "link_speed=\"8.0 GT/s PCIe\" link_width=";
  for (const char* width : {"\"0\"", "\"16\"", "\"255\"", "\"\""}) {
    EXPECT_EQ(refusal(good + width), "accepted") << width;
  }
  EXPECT_EQ(refusal(good + "\"17\""), of_pci +
                                          "8.0 GT/s PCIe\">: link_width is '17', expected "
                                          "lanes of PCIe: 1, 2, 4, 8, 12, 16 or 32");
  for (const std::string speed : {"-8.0 GT/s PCIe", "8000.0 GT/s PCIe", "nan GT/s"}) {
    EXPECT_EQ(
        refusal("link_speed=\"" + speed + "\" link_width=\"16\""),
        of_pci + speed + "\">: link_speed is '" + speed + "', expected GT/s, as 16.0 GT/s PCIe");
  }
}

TEST(NcclXml, DoubtsWhatNoMachineHas) {
  const auto warnings = [](const char* fixture_name, const std::string& what,
                           const std::string& by) {
    auto text = text_of(fixture(fixture_name));
    EXPECT_NE(text.find(what), std::string::npos);
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
      text.replace(at, what.size(), by);
    }
    return import_topology_text(text).warnings;
  };
  using TextLines = std::vector<std::string>;
  EXPECT_EQ(warnings("pcie-only.nccl.xml", "affinity=\"ffffffff,00000000\"",
                     "affinity=\"ffffffff,80000000\""),
            TextLines{"CPU 31 is of NUMA0 and of NUMA1: no machine has such affinities"});
  const auto links = warnings("dgx1.nccl.xml", "count=\"2\"", "count=\"9\"");
  ASSERT_EQ(links.size(), 8U);
  EXPECT_EQ(links[0], "GPU0 has 20 NVLinks: no GPU of its kind has more than 6");
  EXPECT_EQ(warnings("dgx1.nccl.xml", "count=\"2\"", "count=\"2\""), TextLines{});
}

TEST(NcclXml, KeepsTheNumbersOfGpus) {
  auto text = text_of(fixture("pcie-only.nccl.xml"));
  text.replace(text.find("gpu dev=\"1\""), 11, "gpu      ");
  const auto graph = import_topology_text(text);
  EXPECT_EQ(graph.nodes[graph.find_name("GPU2")].pci, "0000:83:00.0");
  ASSERT_EQ(graph.warnings.size(), 1U);
  EXPECT_EQ(graph.warnings[0],
            "the GPU at 0000:04:00.0 has no number, other GPUs have: it is called GPU1");
}

TEST(NcclXml, DevicesMayBeBare) {
  // As cloud providers ship it: no gpu, nic or speed.
  const auto graph = graph_from_nccl_xml(
      "<system version=\"1\"><cpu numaid=\"-1\"><pci busid=\"0002:00:00.0\" class=\"0x030200\"/>"
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"\"/>"
      "<pci busid=\"0101:00:00.0\" class=\"0x020700\"/><pci "
      "busid=\"0000:00:1b.0\"/></cpu></system>");
  EXPECT_EQ(graph.nodes[graph.find_name("GPU0")].pci, "0001:00:00.0");
  EXPECT_EQ(graph.devices().size(), 3U);
  EXPECT_FALSE(numa_of(graph, graph.find_name("GPU0")));
  EXPECT_FALSE(path(graph, "GPU0", "GPU1").capacity_GBps);
}

TEST(NcclXml, SaysWhatIsWrong) {
  const auto refusal = [](const std::string& xml) {
    return refusal_by([&] { graph_from_nccl_xml(xml); });
  };
  EXPECT_NE(refusal("<system/>").find("without a <cpu>"), std::string::npos);
  EXPECT_EQ(refusal("<system><cpu/></system>\n<system/>\n"),
            "line 2: <system> behind the end of <system>: give one machine's alone");
  EXPECT_NE(refusal("<system><cpu host_hash=\"1\"/><cpu host_hash=\"2\"/></system>").find("hosts"),
            std::string::npos);
  const auto link = [](const std::string& count) {
    return "<system><cpu><pci busid=\"0000:01:00.0\"><gpu dev=\"0\"><nvlink target=\"\" count=\"" +
           count + "\" tclass=\"0x068000\"/></gpu></pci></cpu></system>";
  };
  EXPECT_EQ(refusal(link("2")), "accepted");
  EXPECT_NE(refusal(link("-2")).find("'-2'"), std::string::npos);
  EXPECT_NE(refusal(link("")).find("count"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench
