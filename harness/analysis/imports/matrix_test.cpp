#include <gtest/gtest.h>

#include <set>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/link_specifications.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

constexpr const char* small_matrix =
    R"(	GPU0	GPU1	mlx5_0	CPU Affinity	NUMA Affinity
GPU0	 X 	NV2	PIX	0-3	0
GPU1	NV2	 X 	SYS	4-7	1
mlx5_0	PIX	SYS	 X 		
)";

std::string between(const Graph& graph, const std::string& a, const std::string& b) {
  return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
}

std::string gpu(int number) { return "GPU" + std::to_string(number); }
std::string ib(int number) { return "ib" + std::to_string(number); }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string everywhere(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string refusal(const std::string& text) {
  const auto what = refusal_by([&] { graph_from_matrix(text); });
  EXPECT_EQ(what.find('\n'), std::string::npos);
  return what;
}

TEST(Dgx1, HasTheNvlinksOfItsMesh) {
  const auto graph = import_topology(fixture("dgx1.txt"));
  const std::set<std::pair<int, int>> two = {{0, 3}, {0, 4}, {1, 2}, {1, 5},
                                             {2, 3}, {4, 7}, {5, 6}, {6, 7}};
  const std::set<std::pair<int, int>> one = {{0, 1}, {0, 2}, {1, 3}, {2, 6},
                                             {3, 7}, {4, 5}, {4, 6}, {5, 7}};
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) {
      const auto* expected = two.contains({a, b}) ? "NV2" : one.contains({a, b}) ? "NV1" : "SYS";
      EXPECT_EQ(between(graph, gpu(a), gpu(b)), expected) << a << " " << b;
      EXPECT_EQ(between(graph, gpu(b), gpu(a)), expected) << a << " " << b;
    }
  }
}

TEST(Dgx1, HasANicForEachPairOfGpus) {
  const auto graph = import_topology(fixture("dgx1.txt"));
  const std::vector<std::string> nearest = {"ib0", "ib0", "ib2", "ib2", "ib1", "ib1", "ib3", "ib3"};
  for (int i = 0; i < 8; ++i) {
    const auto self = graph.find_name(gpu(i));
    const auto nics = nearest_nics(graph, self);
    ASSERT_EQ(nics.nodes.size(), 1U);
    EXPECT_EQ(graph.nodes[nics.nodes[0]].name, nearest[static_cast<std::size_t>(i)]);
    EXPECT_EQ(to_string(nics.path_class), "PIX");
    for (int k = 0; k < 4; ++k) {
      const bool same_socket = (i < 4) == (k == 0 || k == 2);
      const auto* expected = ib(k) == nearest[static_cast<std::size_t>(i)] ? "PIX"
                             : same_socket                                 ? "PHB"
                                                                           : "SYS";
      EXPECT_EQ(between(graph, gpu(i), ib(k)), expected) << i << " " << k;
    }
    const auto cpus = *nearest_cpus(graph, self);
    EXPECT_EQ(cpus.size(), 40U);
    EXPECT_EQ(cpus.front(), i < 4 ? 0 : 20);
    EXPECT_EQ(cpus.back(), i < 4 ? 59 : 79);
  }
  // NICs have no affinity of their own in the matrix; they are where their GPUs are.
  EXPECT_EQ(nearest_cpus(graph, graph.find_name("ib3")),
            nearest_cpus(graph, graph.find_name("GPU7")));
}

TEST(Dgx1, IsTheSameFromEverySource) {
  const auto matrix = import_topology(fixture("dgx1.txt"));
  const auto name_elsewhere = [](const std::string& name) {
    return name.starts_with("ib") ? "mlx5_" + name.substr(2) : name;
  };
  for (const char* file : {"dgx1.nccl.xml", "dgx1.hwloc.xml"}) {
    const auto other = import_topology(fixture(file));
    EXPECT_EQ(other.devices().size(), matrix.devices().size());
    for (const auto a : matrix.devices()) {
      for (const auto b : matrix.devices()) {
        const auto& name_a = matrix.nodes[a].name;
        const auto& name_b = matrix.nodes[b].name;
        EXPECT_EQ(between(matrix, name_a, name_b),
                  between(other, name_elsewhere(name_a), name_elsewhere(name_b)))
            << file << " " << name_a << " " << name_b;
      }
    }
  }
}

TEST(Dgx1, OfP100HasTheSameEdgesOfOneLink) {
  const auto volta = import_topology(fixture("dgx1.txt"));
  const auto pascal = import_topology(fixture("dgx1-p100.txt"));
  for (int a = 0; a < 8; ++a) {
    double links = 0;
    for (int b = 0; b < 8; ++b) {
      if (a == b) continue;
      const bool joined = between(volta, gpu(a), gpu(b)).starts_with("NV");
      EXPECT_EQ(between(pascal, gpu(a), gpu(b)), joined ? "NV1" : "SYS");
      const auto path = path_between(pascal, pascal.find_name(gpu(a)), pascal.find_name(gpu(b)));
      if (joined) links += path.capacity_GBps.value_or(0);
    }
    EXPECT_DOUBLE_EQ(links, nvlink_capacity(*link_specification("NVLink 1"), 4).GBps);
  }
}

TEST(Matrix, NvlinksOfAMatrixLeadToASwitchWhereAGpuHasTooFew) {
  for (const char* name : {"dgx2.txt", "a100-nvswitch.txt", "h100-nvswitch.txt"}) {
    const auto graph = import_topology(fixture(name));
    EXPECT_EQ(graph.of_kind(NodeKind::nvswitch).size(), 1U) << name;
  }
  EXPECT_TRUE(import_topology(fixture("dgx1.txt")).of_kind(NodeKind::nvswitch).empty());
  // Three of 6 links are 18: a mesh for a GPU that has so many, not for a V100.
  const std::string four =
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV6 NV6 NV6\nGPU1 NV6 X NV6 NV6\n"
      "GPU2 NV6 NV6 X NV6\nGPU3 NV6 NV6 NV6 X\n";
  EXPECT_TRUE(graph_from_matrix(four).of_kind(NodeKind::nvswitch).empty());
  const auto volta = graph_from_matrix("GPU 0: Tesla V100-SXM3-32GB (UUID: GPU-0)\n" + four);
  EXPECT_EQ(volta.of_kind(NodeKind::nvswitch).size(), 1U);
  EXPECT_EQ(between(volta, "GPU0", "GPU3"), "NV6");
}

TEST(Matrix, ModelsGiveNvlinksTheirCapacity) {
  const auto graph = import_topology(fixture("h100-nvswitch.txt"));
  const auto path = path_between(graph, graph.find_name("GPU0"), graph.find_name("GPU7"));
  EXPECT_EQ(to_string(path.path_class), "NV18");
  EXPECT_DOUBLE_EQ(path.capacity_GBps.value_or(0), 450);
  const auto without = import_topology(fixture("a100-nvswitch.txt"));
  EXPECT_FALSE(
      path_between(without, without.find_name("GPU0"), without.find_name("GPU7")).capacity_GBps);
}

TEST(Matrix, NicsHaveTheNamesOfTheLegend) {
  const auto graph = import_topology(fixture("h100-nvswitch.txt"));
  EXPECT_EQ(graph.nodes[graph.find_name("NIC4")].alias, "mlx5_bond_0");
  EXPECT_EQ(graph.nodes[graph.find_name("NIC9")].alias, "mlx5_bond_1");
}

TEST(Matrix, NumaNodesAreNumberedWhereTheColumnIs) {
  const auto graph = import_topology(fixture("a100-nvswitch.txt"));
  EXPECT_EQ(numa_of(graph, graph.find_name("GPU4")), 7);
  EXPECT_EQ(numa_of(graph, graph.find_name("mlx5_4")), 7);
  const auto older = import_topology(fixture("dgx2.txt"));
  EXPECT_FALSE(numa_of(older, older.find_name("GPU4")));
  EXPECT_EQ(nearest_cpus(older, older.find_name("mlx5_7"))->front(), 24);
}

TEST(Matrix, AVirtualMachineHidesTheRest) {
  const auto graph = import_topology(fixture("vm.txt"));
  EXPECT_EQ(between(graph, "GPU0", "GPU1"), "PHB");
  const auto self = graph.find_name("GPU0");
  EXPECT_FALSE(numa_of(graph, self));
  EXPECT_FALSE(nearest_cpus(graph, self));
  EXPECT_FALSE(path_between(graph, self, graph.find_name("mlx5_0")).capacity_GBps);
}

TEST(Matrix, MayLackRows) {
  const std::string text(small_matrix);
  const auto graph = graph_from_matrix(text.substr(0, text.find("mlx5_0\tPIX")));
  EXPECT_EQ(between(graph, "GPU0", "mlx5_0"), "PIX");
  const std::string two_nics = "GPU0 GPU1 ib0 ib1\nGPU0 X SYS PIX PIX\nGPU1 SYS X SYS SYS\n";
  // Both at GPU0's switch, so at one switch; of ib0 nobody said it.
  EXPECT_EQ(between(graph_from_matrix(two_nics), "ib0", "ib1"), "PIX");
  const std::string apart = "GPU0 GPU1 ib0\nGPU0 X PIX SYS\n";
  EXPECT_EQ(between(graph_from_matrix(apart), "GPU1", "ib0"), "?");
}

std::vector<std::string> warnings_of(const std::string& text) {
  return import_topology_text(text).warnings;
}

using Lines = std::vector<std::string>;

TEST(Matrix, SaysWhatIsDoubtful) {
  const std::string text(small_matrix);
  EXPECT_EQ(warnings_of(text), Lines{});
  EXPECT_EQ(warnings_of(text.substr(0, text.find("mlx5_0\tPIX"))),
            Lines{"no row of mlx5_0: only what other rows say is known of it"});
  EXPECT_EQ(warnings_of(replaced(text, "4-7\t1", "4-7\t")),
            Lines{"GPU1 has no NUMA affinity of one node, others have one"});
  EXPECT_EQ(warnings_of(replaced(text, "4-7", "N/A")),
            Lines{"GPU1 has no CPU affinity, others have one"});
  EXPECT_EQ(warnings_of(replaced(text, "4-7", "x-7")),
            (Lines{"line 3: row GPU1: 'x-7' is not a list of numbers: left out",
                   "GPU1 has no CPU affinity, others have one",
                   "GPU1 has no NUMA affinity of one node, others have one"}));
  EXPECT_EQ(warnings_of(replaced(text, "4-7", "2-7")),
            Lines{"row GPU0, line 2: CPUs 0-3, but row GPU1, line 3 has 2-7: no machine has such "
                  "affinities"});
  EXPECT_EQ(warnings_of(replaced(text, "NUMA Affinity", "NUMA Affin")),
            Lines{"line 1: 'Affin' is not a column of nvidia-smi's: left out"});
  EXPECT_EQ(warnings_of(text + "NIC0: mlx5_7\n"),
            Lines{"NIC0 (mlx5_7) is of no column of the matrix: left out"});
}

TEST(Matrix, DoubtsClassesThatContradictEachOther) {
  // mlx5_0 is under the switches of both GPUs, which are in two NUMA nodes.
  const std::string text = "GPU0 GPU1 mlx5_0\nGPU0 X SYS PIX\nGPU1 SYS X PHB\nmlx5_0 PIX PHB X\n";
  EXPECT_EQ(warnings_of(text),
            (Lines{"row GPU0, line 2: PIX to mlx5_0 and SYS to GPU1, which are PHB to each other: "
                   "no machine is wired so",
                   "row GPU1, line 3: PHB to mlx5_0 and SYS to GPU0, which are PIX to each other: "
                   "no machine is wired so"}));
  EXPECT_EQ(warnings_of(everywhere(text, "SYS", "NODE")), Lines{});
}

TEST(Matrix, DoubtsALegendThatNamesTwoNicsAlike) {
  const std::string text =
      "GPU0 NIC0 NIC1\nGPU0 X PIX PHB\nNIC0 PIX X PHB\nNIC1 PHB PHB X\n\nNIC Legend:\n\n"
      "  NIC0: mlx5_0\n  NIC1: mlx5_1\n";
  EXPECT_EQ(warnings_of(text), Lines{});
  EXPECT_EQ(warnings_of(replaced(text, "mlx5_1", "mlx5_0")),
            Lines{"NIC1 is mlx5_0 in the legend, as NIC0 is: no two devices have one name"});
}

TEST(Matrix, DoubtsMoreNvlinksThanAGpuHas) {
  const std::string text = "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n";
  const std::string models = "GPU 0: NVIDIA A100 (UUID: 0)\nGPU 1: NVIDIA A100 (UUID: 1)\n";
  EXPECT_EQ(warnings_of(text), Lines{});
  EXPECT_EQ(
      warnings_of(everywhere(text, "18", "19")),
      (Lines{"row GPU0, line 2: NV19, but GPUs that are known here have at most 18 NVLinks",
             "row GPU1, line 3: NV19, but GPUs that are known here have at most 18 NVLinks"}));
  EXPECT_EQ(warnings_of(models + text),
            (Lines{"row GPU0, line 4: NV18, but NVIDIA A100 has at most 12 NVLinks",
                   "row GPU1, line 5: NV18, but NVIDIA A100 has at most 12 NVLinks"}));
  EXPECT_EQ(warnings_of(models + everywhere(text, "18", "12")), Lines{});
}

TEST(Matrix, KeepsTheNumbersOfGpusWhereOneIsMissing) {
  const auto graph = import_topology_text("GPU0 GPU3\nGPU0 X SYS\nGPU3 SYS X\n");
  EXPECT_NE(graph.find_name("GPU3"), Node::none);
  EXPECT_EQ(graph.warnings, Lines{"no GPU1-2, but GPU3: the others keep their numbers"});
}

// As several drivers have printed it, and as people have pasted it.
TEST(Matrix, OfSeveralDriversIsTakenWithoutAWord) {
  for (const char* text : {
           "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSOC\t0-11\nGPU1\tSOC\t X \t12-23\n",
           "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X "
           "\tPHB\t0-63\t0\t\tN/A\n"
           "GPU1\tPHB\t X \t0-63\t0\t\tN/A\n\nLegend:\n\n  X    = Self\n"
           "  NV#  = Connection traversing a bonded set of # NVLinks\n",
           "        GPU0    GPU1    CPU Affinity    NUMA\nGPU0     X      NV18    0-51            "
           "0\n"
           "GPU1    NV18     X      52-103          1\n",
           "GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID\n"
           "GPU0     X      NV12    SYS     48-63,176-191   3               N/A\n"
           "GPU1    NV12     X      PXB     16-31,144-159   1               N/A\n"
           "NIC0    SYS     PXB      X\n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
           "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-71\t0\t1\n",
           "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tPHB\tNODE\t0-7\nGPU1\tPHB\t X "
           "\tNODE\t0-7\nmlx5_0\tNODE\tNODE\t X \t\n\n \tGPU0\tGPU1\n GPU0\tX\tGNS\n "
           "GPU1\tGNS\tX\n",
       }) {
    EXPECT_EQ(warnings_of(text), Lines{}) << text;
  }
}

TEST(Matrix, IsFoundAmongOtherText) {
  const std::string text(small_matrix);
  const auto graph = graph_from_matrix(text);
  const auto hash = hash_of(graph);
  const std::vector<std::string> same = {
      "On node07:\n\n```console\n$ nvidia-smi topo -m\n" + text + "```\nGPU0 is next to mlx5_0.\n",
      everywhere(text, "\n", "\r\n"),
      "> " + everywhere(text, "\n", "\n> "),
      everywhere(text, "\t", "    "),
      replaced(text, "\tGPU0\tGPU1", "\t\x1b[4mGPU0\t\x1b[1;4mGPU1\x1b[0m"),
      replaced(text, "\tCPU Affinity\tNUMA Affinity", "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"),
      text + "\n \tGPU0\tGPU1\n GPU0\tX\tNS\n GPU1\tNS\tX\n",  // of topo -p2p
      replaced(text, "GPU1\tNV2", "\nGPU1\tNV2"),
  };
  for (const auto& each : same) EXPECT_EQ(hash_of(graph_from_matrix(each)), hash) << each;
}

TEST(Matrix, CpuAffinityMayStandBelow) {
  const std::string cells = "GPU0 GPU1\nGPU0 X SYS\nGPU1 SYS X\n";
  const auto beside = graph_from_matrix("GPU0 GPU1 CPU Affinity\nGPU0 X SYS 0-3\nGPU1 SYS X 4-7\n");
  const auto below = graph_from_matrix(cells + "\n     CPU Affinity\nGPU0 0-3\nGPU1 4-7\n");
  EXPECT_EQ(nearest_cpus(below, below.find_name("GPU1")), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(to_json(below), to_json(beside));
}

TEST(Matrix, SaysWhereItIsWrong) {
  const std::string text(small_matrix);
  EXPECT_NE(refusal("").find("no matrix"), std::string::npos);
  EXPECT_NE(refusal("hello\nworld\n").find("no matrix"), std::string::npos);
  EXPECT_EQ(refusal("\tGPU0\tGPU1\n"), "line 1: the matrix has no rows");
  EXPECT_EQ(refusal(text.substr(0, text.find("NV2\t X"))),
            "line 3: the matrix is cut off: row GPU1 has 0 of 3 cells");
  EXPECT_EQ(refusal(text.substr(0, text.find("PIX\tSYS") + 3)),
            "line 4: the matrix is cut off: row mlx5_0 has 1 of 3 cells");
  for (const char* word : {"NV-1", "NV0", "NV", "NVx", "NV1000"}) {
    EXPECT_EQ(
        refusal(replaced(text, "NV2", word)),
        "line 2: '" + std::string(word) + "': expected NV and the number of NVLinks, 1 or more");
  }
  EXPECT_EQ(refusal(replaced(text, "PIX", "PIE")),
            "line 2: unknown class 'PIE': expected X, NV#, PIX, PXB, PHB, NODE or SYS");
  EXPECT_NE(refusal(replaced(text, "PIX", "NET")).find("unknown class"), std::string::npos);
  EXPECT_NE(refusal(replaced(text, "NV2", "X")).find("X belongs where"), std::string::npos);
  EXPECT_NE(refusal(replaced(text, " X ", "PIX")).find("X belongs where"), std::string::npos);
  EXPECT_EQ(refusal(replaced(text, "GPU1\tNV2", "GPU1\tNV1")),
            "line 3: NV1 from GPU1 to GPU0, but NV2 the other way: no machine is wired so");
  EXPECT_EQ(refusal(replaced(text, "GPU1\tmlx5_0", "GPU0\tmlx5_0")), "line 1: two columns GPU0");
  EXPECT_EQ(refusal(replaced(text, "GPU1\tNV2", "GPU0\tNV2")), "line 3: a second row GPU0");
  EXPECT_NE(refusal(replaced(text, "4-7", "7-4")).find("line 3: list '7-4'"), std::string::npos);
  EXPECT_EQ(refusal(replaced(text, "PIX", "NV2")),
            "line 2: 'NV2' from GPU0 to mlx5_0: nvidia-smi says NV of two GPUs only");
  // Of a second machine, whose GPUs have the same names.
  EXPECT_EQ(refusal(text + "\nnode08:\n" + text),
            "line 8: a second matrix, the first begins at line 1: give one machine's alone");
  std::string many;
  for (int i = 0; i < 600; ++i) many += gpu(i) + " ";
  EXPECT_EQ(refusal(many), "line 1: more than 512 devices");
  EXPECT_EQ(refusal(replaced(text, "GPU1\tNV2\t X ", "GPU7\tNV2\t X ")),
            "line 3: row GPU7 is of no column of the header, line 1");
  EXPECT_EQ(refusal(replaced(text, "PIX\t0-3", "PIX\tPIX\t0-3")),
            "line 2: row GPU0 has more cells than the header, line 1, has columns: 3");
  const auto zero =
      refusal_by([&] { import_topology_text(replaced(text, "SYS", std::string("S\0S", 3))); });
  EXPECT_EQ(zero, "line 3: a NUL byte: damaged, or UTF-16; give plain text in UTF-8");
}

}  // namespace
}  // namespace ucxbench
