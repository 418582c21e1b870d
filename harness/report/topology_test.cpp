#include "harness/report/topology.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& name : entries_of(fixture(""))) {
    if (!name.ends_with(".expected")) names.push_back(name);
  }
  return names;
}

class ConsoleText : public testing::TestWithParam<std::string> {};

// UPDATE_EXPECTED=1 report_test --gtest_filter='*ConsoleText*' writes the expected texts anew.
TEST_P(ConsoleText, IsAsExpected) {
  const auto text = topology_text(import_topology(fixture(GetParam())));
  const auto expected = fixture(GetParam() + ".expected");
  if (std::getenv("UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << text;
  EXPECT_EQ(text, text_of(expected));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ConsoleText, testing::ValuesIn(fixtures()),
                         [](const auto& file) {
                           auto name = file.param;
                           for (auto& c : name) {
                             if (c == '.' || c == '-') c = '_';
                           }
                           return name;
                         });

TEST(TopologyText, OfNoDevicesSaysSo) {
  const auto text = topology_text(graph_of_host("test"));
  EXPECT_NE(text.find("no GPU and no NIC is visible"), std::string::npos);
}

TEST(TopologyText, NeverHoldsControlCharacters) {
  auto graph = graph_of_host("test\x1b[31m");
  Node node;
  node.kind = NodeKind::gpu;
  node.name = "GPU0\n\x1b[2J";
  node.model = "\x07";
  attach_pcie(graph, graph.add(std::move(node)), 0, std::nullopt, "\x1b]0;title\x07");
  auto text = topology_text(graph);
  std::erase(text, '\n');
  for (const char c : text) EXPECT_GE(c, ' ');
}

}  // namespace
}  // namespace ucxbench
