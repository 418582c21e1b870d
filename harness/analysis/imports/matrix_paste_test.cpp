#include "harness/analysis/imports/matrix_paste.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/imports/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

// As nvidia-smi prints it.
constexpr const char* printed =
    "\tGPU0\tGPU1\tmlx5_0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV12\tPIX\tNODE\t0-3\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\tSYS\t4-7\t1\t\tN/A\n"
    "mlx5_0\tPIX\tSYS\t X \tNODE\t\t\t\t\n"
    "NIC1\tNODE\tSYS\tNODE\t X \t\t\t\t\n";

std::string pasted(const std::string& what, const std::string& by) {
  std::string text = printed;
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string pasted_everywhere(const std::string& what, const std::string& by) {
  std::string text = printed;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string refusal_of_text(const std::string& text) {
  return refusal_by([&] { import_topology_text(text); });
}

constexpr const char* markdown =
    "| | **GPU0** | GPU1 | mlx5\\_0 | `NIC1` | CPU Affinity | NUMA Affinity | GPU NUMA ID |\n"
    "|---|:---:|---|---|---|---|---|---|\n"
    "| GPU0 | X | NV12 | PIX | NODE | 0-3 | 0 | N/A |\n"
    "| GPU1 | NV12 | X | SYS | SYS | 4-7 | 1 | N/A |\n"
    "| mlx5\\_0 | PIX | SYS | X | NODE | | | |\n"
    "| NIC1 | NODE | SYS | NODE | X | | | |\n";

constexpr const char* wrapped_lines =
    "GPU0 GPU1 mlx5_0\nNIC1 CPU Affinity NUMA\nAffinity GPU NUMA ID\n"
    "GPU0 X NV12 PIX\nNODE 0-3 0 N/A\nGPU1 NV12\nX SYS\nSYS 4-7 1 N/A\n"
    "mlx5_0 PIX SYS X\nNODE\nNIC1 NODE SYS\nNODE X\n";

constexpr const char* grown_together =
    "GPU0 GPU1mlx5_0NIC1CPU AffinityNUMA AffinityGPU NUMA ID\n"
    "GPU0X NV12PIX NODE0-3 0 N/A\nGPU1 NV12XSYS SYS4-7 1 N/A\n"
    "mlx5_0 PIXSYS XNODE\nNIC1NODE SYSNODEX\n";

TEST(MatrixPaste, IsWhatWasPrinted) {
  const auto graph = import_topology_text(printed);
  EXPECT_EQ(graph.warnings, std::vector<std::string>{});
  const std::vector<std::string> same = {
      markdown,
      wrapped_lines,
      grown_together,
      pasted_everywhere("\t", "\u00a0\u00a0"),
      pasted_everywhere("\t", "&nbsp;&nbsp;"),
      pasted_everywhere("\t", "\u3000"),
      pasted_everywhere("-", "\u2013"),
      pasted("GPU0\tGPU1", "[4mGPU0\tGPU1[0m"),
      pasted("GPU0\tGPU1", "^[[4mGPU0\tGPU1^[[0m"),
      pasted("GPU0\tGPU1", "\\x1b[1;4mGPU0\tGPU1\\033[0m"),
      "<details><summary>topology</summary>\n\n```\n" + std::string(printed) + "```\n</details>\n",
  };
  for (const auto& text : same) {
    const auto again = import_topology_text(text);
    EXPECT_EQ(to_json(again), to_json(graph)) << text;
    EXPECT_EQ(again.warnings, graph.warnings) << text;
  }
}

TEST(MatrixPaste, SplitsOnlyWhereThereIsOneWay) {
  // NV1 and 20-3, or NV12 and 0-3.
  EXPECT_NE(
      refusal_of_text("GPU0 GPU1 CPU Affinity\nGPU0 X NV120-3\nGPU1 NV12 X 4-7\n").find("NV120-3"),
      std::string::npos);
  EXPECT_NE(refusal_of_text(pasted("PIX\tNODE", "PIXNOD")).find("PIXNOD"), std::string::npos);
  // A cell too many.
  EXPECT_NE(refusal_of_text(pasted("PIX\tNODE", "PIX\tNODENODE")).find("NODENODE"),
            std::string::npos);
  EXPECT_NE(refusal_of_text(pasted("\tNODE\t0-3", "")).find("class '0'"), std::string::npos);
}

TEST(MatrixPaste, TakesLinearTime) {
  // Each line could begin a wrapped row.
  std::string text = "GPU0 GPU1 GPU2\n";
  for (int line = 0; line < 20'000; ++line) text += "GPU0 X NV1\nNV1\u00a0|\n";
  EXPECT_EQ(pasted_lines(text).size(), 20'001U);
}

/// The models of both GPUs, and the warnings.
std::vector<std::string> models_in(const std::string& list) {
  const auto graph = import_topology_text(list + printed);
  std::vector<std::string> found = graph.warnings;
  for (const auto gpu : graph.of_kind(NodeKind::gpu)) found.push_back(graph.nodes[gpu].model);
  return found;
}

TEST(MatrixPaste, ModelsStandInReportsOfEnvironments) {
  const std::vector<std::string> a100s(2, "NVIDIA A100-SXM4-40GB");
  for (const char* list : {
           "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: "
           "GPU-1)\n",
           "GPU models and configuration: \nGPU 0: NVIDIA A100-SXM4-40GB\nGPU 1: NVIDIA "
           "A100-SXM4-40GB\n\nNvidia driver version: 535.0\n",
           "GPU models and configuration: GPU 0: NVIDIA A100-SXM4-40GB\nGPU 1: NVIDIA "
           "A100-SXM4-40GB\n",
           "CUDA available: True\nGPU 0,1: NVIDIA A100-SXM4-40GB\nGPU 0,1 Compute Capability: "
           "8.0\nNVIDIA Topology: \n",
       }) {
    EXPECT_EQ(models_in(list), a100s) << list;
  }
  EXPECT_EQ(models_in("GPU 0: is next to the NIC\n"), std::vector<std::string>(2));
  EXPECT_EQ(models_in("GPU 0,1: NVIDIA A100\nGPU 1: NVIDIA H100\n").front(),
            "line 2: GPU1 is 'NVIDIA H100', before it was 'NVIDIA A100': that counts");
}

TEST(MatrixPaste, WithoutNvlinksHasNoPeakBetweenGpus) {
  const std::string cells = "GPU0 GPU1 mlx5_0\nGPU0 X SYS PIX\nGPU1 SYS X SYS\nmlx5_0 PIX SYS X\n";
  const std::string legend = "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n";
  const auto left_out = import_topology_text(cells + legend);
  ASSERT_EQ(left_out.warnings.size(), 1U);
  EXPECT_NE(left_out.warnings[0].find("topo -mp"), std::string::npos) << left_out.warnings[0];
  const auto between = [](const Graph& graph, const char* a, const char* b) {
    return path_between(graph, graph.find_name(a), graph.find_name(b)).source;
  };
  const auto none = import_topology_text(cells + legend + "  NV#  = Connection of NVLinks\n");
  EXPECT_EQ(none.warnings, std::vector<std::string>{});
  EXPECT_EQ(between(left_out, "GPU0", "GPU1"), "NVLinks are not known");
  EXPECT_EQ(between(left_out, "GPU0", "mlx5_0"), between(none, "GPU0", "mlx5_0"));
  EXPECT_NE(between(none, "GPU0", "GPU1"), between(left_out, "GPU0", "GPU1"));
  EXPECT_EQ(to_json(graph_from_json(to_json(left_out))), to_json(left_out));
}

TEST(MatrixPaste, OfOtherToolsIsRefusedByItsName) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"=== ROCm System Management Interface ===\n=== Weight between two GPUs ===\n GPU0 GPU1\n"
       "GPU0 0 15\nGPU1 15 0\n",
       "rocm-smi --showtopo"},
      {"== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 XGMI 0\n",
       "rocm-smi --showtopo"},
      {"GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[0]\t\t: (Topology) Numa Affinity: 0\n",
       "rocm-smi --showtopo"},
      {R"({"system": {"(Topology) Weight between DRM devices 0 and 1": "15"}})",
       "rocm-smi --showtopo"},
      {R"([{"gpu": 0, "links": [{"gpu": 1, "link_type": "XGMI", "num_hops": 1}]}])",
       "amd-smi topology --json"},
      {"HOPS TABLE:\n 0000:0c:00.0\n0000:0c:00.0 0\n", "amd-smi topology"},
      {"LINK TYPE TABLE:\n 0000:0c:00.0\n0000:0c:00.0 SELF\n", "amd-smi topology"},
      {"GPU 0: NVIDIA A100 (UUID: GPU-0)\n", "nvidia-smi -L"},
      {"| NVIDIA-SMI 535.0 Driver Version: 535.0 |\n", "nvidia-smi without topo -m"},
      {"Machine (64GB)\n  NUMANode L#0 (P#0 64GB)\n", "lstopo as text"},
      {" GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n", "nvidia-smi topo -p2p"},
  };
  for (const auto& [text, name] : texts) {
    EXPECT_NE(refusal_of_text(text).find(name), std::string::npos) << refusal_of_text(text);
  }
}

}  // namespace
}  // namespace ucxbench
