// Whatever happened to a file on its way, an importer reads it or says what is wrong with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "harness/analysis/advice.hpp"
#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/import.hpp"
#include "harness/analysis/pick.hpp"
#include "harness/core/failure.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

/// What importers ask for by name, and values that they must not trust.
constexpr std::array pieces = {"GPU0",      "GPU1 ",        "NIC0: mlx5_0",
                               " X ",       "NV2",          "NV99",
                               "SYS",       "\x1b[4m",      "\t",
                               "\n",        "CPU Affinity", "0-65535",
                               "-1",        "99999999999",  "0x0",
                               "0xf...f",   "0xffffffff,",  "NUMANode",
                               "Package",   "Bridge",       "PCIDev",
                               "OSDev",     "0-1",          "<object>",
                               "</object>", "<pci/>",       "<gpu dev=\"0\"/>",
                               "</system>", "\"",           "{",
                               "null",      "\"host\"",     "nan",
                               "1e999",     "0000:00:00.0"};

void damage(std::string& text, Random& random) {
  const auto at = below(random, text.size() + 1);
  const auto length = std::min(text.size() - at, 1 + below(random, 40));
  switch (below(random, 6)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(random, text.size() + 1), text.substr(at, length));
      break;
    case 3:
      text.insert(at, pieces[below(random, pieces.size())]);
      break;
    case 4: {
      // Another value between two quotes.
      const auto open = text.find('"', at);
      const auto close = open == std::string::npos ? open : text.find('"', open + 1);
      if (close == std::string::npos) break;
      text.replace(open + 1, close - open - 1, pieces[below(random, pieces.size())]);
      break;
    }
    default:
      if (below(random, 8) == 0) text.resize(at);
  }
}

/// Everything that is done with an imported graph.
void use(const Graph& graph) {
  const auto json = to_json(graph);
  EXPECT_EQ(hash_of(graph).size(), 16U);
  for (const auto device : graph.devices()) {
    nearest_nics(graph, device);
    for (const auto other : graph.devices()) {
      EXPECT_GT(path_between(graph, device, other).capacity_GBps.value_or(1), 0);
    }
  }
  EXPECT_EQ(to_json(graph_from_json(json)).at("pairs"), json.at("pairs"));
  for (const auto& rank : advise(graph).ranks) {
    EXPECT_TRUE(std::ranges::is_sorted(rank.cpus));
  }
  try {
    EXPECT_EQ(pick_gpus(graph, 2).best.gpus.size(), 2U);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
  }
}

class Damaged : public testing::TestWithParam<std::string> {};

TEST_P(Damaged, IsReadOrRefused) {
  // More by hand: DAMAGED_COPIES=100000 analysis_test --gtest_filter='*Damaged*'.
  const char* more = std::getenv("DAMAGED_COPIES");
  const int copies = more == nullptr ? 400 : std::atoi(more);
  auto whole = text_of(fixture(GetParam()));
  ASSERT_FALSE(whole.empty());
  // Every second copy as our own JSON.
  const auto json = to_json(import_topology_text(whole)).dump(1);
  Random random(20);
  int read = 0;
  for (int copy = 0; copy < copies; ++copy) {
    auto text = copy % 2 == 0 ? whole : json;
    for (auto left = 1 + below(random, 4); left > 0 && !text.empty(); --left) damage(text, random);
    SCOPED_TRACE(copy);
    try {
      use(import_topology_text(text));
      ++read;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit(), Exit::usage) << failure.what();
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos) << failure.what();
    }
  }
  // Else the damage is so great that nothing behind the first check is reached.
  EXPECT_GT(read, copies / 20);
}

INSTANTIATE_TEST_SUITE_P(
    Files, Damaged,
    testing::Values("dgx1.txt", "dgx1-p100.txt", "h100-nvswitch.txt", "vm.txt", "dgx1.nccl.xml",
                    "dgx1.hwloc.xml", "h100-nvswitch.nccl.xml", "two-socket.hwloc.xml",
                    "gpu-node.hwloc.xml", "vm.hwloc.xml"),
    [](const auto& file) {
      auto name = file.param;
      std::replace_if(name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
      return name;
    });

}  // namespace
}  // namespace ucxbench
