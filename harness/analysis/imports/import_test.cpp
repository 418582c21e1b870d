#include "harness/analysis/imports/import.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/analysis/fixtures.hpp"
#include "harness/core/files.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

std::string refusal_of_file(const fs::path& file) {
  const auto what = refusal_by([&] { import_topology(file); });
  if (what == "accepted") return what;
  EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  EXPECT_NE(what.find("'" + file.string() + "'"), std::string::npos) << what;
  return what;
}

class Import : public testing::Test {
 protected:
  ~Import() override { fs::remove(file_); }

  std::string refusal_of(const std::string& text) const {
    std::ofstream(file_, std::ios::binary) << text;
    return refusal_of_file(file_);
  }

  fs::path file_ =
      fs::temp_directory_path() / ("import-" + std::to_string(getpid()) + "-" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Import, KnowsEachFormatByItsContent) {
  EXPECT_EQ(import_topology(fixture("dgx1.txt")).source, "nvidia-smi topo -m");
  EXPECT_EQ(import_topology(fixture("dgx1.nccl.xml")).source, "NCCL XML");
  EXPECT_EQ(import_topology(fixture("two-socket.hwloc.xml")).source, "hwloc XML");
}

TEST_F(Import, TakesItsOwnJson) {
  for (const auto& name : entries_of(fixture(""))) {
    if (name.ends_with(".expected")) continue;
    const auto graph = import_topology(fixture(name));
    const auto json = to_json(graph);
    EXPECT_EQ(to_json(import_topology_text(json.dump())), json) << name;
  }
}

TEST_F(Import, GraphsOfDifferentMachinesHaveDifferentHashes) {
  std::map<std::string, std::string> hashes;
  for (const auto& name : entries_of(fixture(""))) {
    if (name.ends_with(".expected")) continue;
    const auto [same, added] = hashes.emplace(hash_of(import_topology(fixture(name))), name);
    EXPECT_TRUE(added) << name << " and " << same->second;
  }
}

TEST_F(Import, ReadsHwlocsSocketsAndNics) {
  const auto graph = import_topology(fixture("two-socket.hwloc.xml"));
  const auto at = [&](const char* name) { return graph.find_name(name); };
  EXPECT_EQ(to_string(class_between(graph, at("mlx5_0"), at("mlx5_1"))), "PIX");
  EXPECT_EQ(to_string(class_between(graph, at("mlx5_0"), at("mlx5_2"))), "SYS");
  EXPECT_EQ(graph.nodes[at("mlx5_2")].alias, "ib0");
  EXPECT_EQ(nearest_nics(graph, at("NUMA1")).nodes, (std::vector<std::size_t>{at("mlx5_2")}));
  EXPECT_EQ(graph.nodes[graph.parent_of(at("NUMA1"))].name, "socket1");
  const auto sockets = path_between(graph, at("NUMA0"), at("NUMA1"));
  EXPECT_NE(sockets.source.find("20.8 GB/s per UPI 10.4"), std::string::npos) << sockets.source;
}

TEST_F(Import, ReadsHwlocsGpus) {
  const auto graph = import_topology(fixture("gpu-node.hwloc.xml"));
  const auto between = [&](const char* a, const char* b) {
    return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
  };
  EXPECT_EQ(graph.of_kind(NodeKind::gpu).size(), 4U) << "a management controller is no GPU";
  EXPECT_EQ(between("GPU0", "GPU1"), "PIX");
  EXPECT_EQ(between("GPU0", "mlx5_0"), "PIX");
  EXPECT_EQ(between("GPU2", "GPU3"), "NODE");
  EXPECT_EQ(between("GPU1", "GPU2"), "SYS");
  EXPECT_EQ(graph.nodes[graph.find_name("GPU0")].model, "NVIDIA A100-PCIE-40GB");
}

TEST_F(Import, RefusesWhatCannotBeRead) {
  EXPECT_NE(refusal_of_file("/nowhere/topology").find("No such file"), std::string::npos);
  EXPECT_NE(refusal_of_file(fs::temp_directory_path()).find("Is a directory"), std::string::npos);
}

TEST_F(Import, RefusesFilesThatNoMachineFills) {
  std::ofstream(file_) << "GPU0";
  fs::resize_file(file_, std::uintmax_t{101} << 20U);
  EXPECT_NE(refusal_of_file(file_).find("is larger than 16 MiB"), std::string::npos);
}

TEST_F(Import, RefusesWhatIsNoTopology) {
  EXPECT_NE(refusal_of("").find("empty"), std::string::npos);
  EXPECT_NE(refusal_of(" \n\t\n").find("empty"), std::string::npos);
  EXPECT_NE(refusal_of("a page of prose").find("no matrix"), std::string::npos);
  EXPECT_NE(refusal_of("<system>\n<cpu>\n</system>").find("not whole XML: line 3"),
            std::string::npos);
  EXPECT_NE(refusal_of("<").find("not whole XML"), std::string::npos);
  EXPECT_NE(refusal_of("<html></html>").find("XML of <html>"), std::string::npos);
  EXPECT_NE(refusal_of("GPU (UUID: GPU-0)").find("no matrix"), std::string::npos);
  EXPECT_NE(refusal_of("{\"devices\": [").find("not whole JSON"), std::string::npos);
  EXPECT_NE(refusal_of("{}").find("not a topology"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(3, '\0')).find("NUL byte"), std::string::npos);
}

TEST_F(Import, RefusesMoreThanAnyMachineHas) {
  std::string many = "<system>";
  for (int i = 0; i < 100'000; ++i) many += "<cpu/>";
  EXPECT_NE(refusal_of(many + "</system>").find("more than 4096 devices"), std::string::npos);
  std::string gpus = "<system><cpu numaid=\"0\">";
  for (int i = 0; i < 513; ++i) {
    gpus += fmt::format(
        "<pci busid=\"0000:{:02x}:{:02x}.0\" class=\"0x030200\">"
        "<gpu dev=\"{}\"/></pci>",
        i / 32, i % 32, i);
  }
  EXPECT_NE(refusal_of(gpus + "</cpu></system>").find("more than 512 GPUs and NICs"),
            std::string::npos);
  std::string cpus = "GPU0 CPU Affinity\nGPU0 X 0-65535";
  for (int i = 0; i < 100'000; ++i) cpus += ",0-65535";
  const auto line = refusal_of(cpus);
  EXPECT_NE(line.find("line 2: list"), std::string::npos);
  EXPECT_LT(line.size(), 1000U);
}

TEST_F(Import, RefusesWhatIsTooDeep) {
  std::string open;
  std::string close;
  for (int i = 0; i < 200'000; ++i) {
    open += "<object>";
    close += "</object>";
  }
  EXPECT_NE(refusal_of("<topology>" + open + close + "</topology>").find("levels"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("{\"devices\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}")
          .find("JSON of more than 100 levels"),
      std::string::npos);
}

}  // namespace
}  // namespace ucxbench
