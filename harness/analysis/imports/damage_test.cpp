// Whatever happened to a file on its way, an importer reads it or says what is wrong with it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <random>

#include "harness/analysis/advice.hpp"
#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/analysis/limits/pick.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/text.hpp"
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
  const int copies = more == nullptr ? (every_trial > 1 ? 50 : 100) : std::atoi(more);
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

/// What an importer says of a text: "refused: …", the warnings, or "" where it takes it without a
/// word.
std::string word_on(const std::string& text) {
  try {
    return fmt::to_string(fmt::join(import_topology_text(text).warnings, "; "));
  } catch (const Failure& failure) {
    return std::string("refused: ") + failure.what();
  }
}

/// Whether something is said, or nothing has changed.
void expect_a_word(const std::string& damaged, const Json& whole) {
  if (!word_on(damaged).empty()) return;
  EXPECT_EQ(to_json(import_topology_text(damaged)), whole) << damaged;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : split_text(text, '\n')) lines.emplace_back(line);
  return lines;
}

class CutMatrix : public testing::TestWithParam<std::string> {};

TEST_P(CutMatrix, IsNotTakenWithoutAWord) {
  const auto text = text_of(fixture(GetParam()));
  EXPECT_EQ(word_on(text), "");
  const auto whole = to_json(import_topology_text(text));
  const auto lines = lines_of(text);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const auto& line = lines[row];
    if (!line.starts_with("GPU") && !line.starts_with("mlx5") && !line.starts_with("NIC") &&
        !line.starts_with("ib")) {
      continue;
    }
    // The list of nvidia-smi -L and the legend have no rows.
    if (line.starts_with("GPU ") || line.starts_with("GPUs ") ||
        line.find(':') != std::string::npos)
      continue;
    SCOPED_TRACE(line);
    auto damaged = lines;
    damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(row));
    EXPECT_NE(word_on(fmt::to_string(fmt::join(damaged, "\n"))), "");
    damaged = lines;
    damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(row), line);
    EXPECT_NE(word_on(fmt::to_string(fmt::join(damaged, "\n"))), "");
    // Rows are alike: each is cut at every third place, the next one at others.
    constexpr auto step = 3 * every_trial;
    for (std::size_t cut = 1 + row % step; cut < line.size(); cut += step) {
      damaged = lines;
      damaged[row] = line.substr(0, cut);
      expect_a_word(fmt::to_string(fmt::join(damaged, "\n")), whole);
      // The same, and nothing follows.
      damaged.resize(row + 1);
      if (row + 1 < lines.size()) expect_a_word(fmt::to_string(fmt::join(damaged, "\n")), whole);
      damaged = lines;
      if (std::isdigit(static_cast<unsigned char>(line[cut])) == 0) continue;
      damaged[row][cut] = 'z';
      expect_a_word(fmt::to_string(fmt::join(damaged, "\n")), whole);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CutMatrix,
                         testing::Values("dgx1.txt", "a100-nvswitch.txt", "h100-nvswitch.txt"),
                         [](const auto& file) {
                           return std::string(1, file.param[0]) + std::to_string(file.index);
                         });

class ChangedXml : public testing::TestWithParam<std::string> {};

/// Attributes that an importer reads, but for names, which may be any.
TEST_P(ChangedXml, IsNotTakenWithoutAWord) {
  const auto text = text_of(fixture(GetParam()));
  EXPECT_EQ(word_on(text), "");
  const auto whole = to_json(import_topology_text(text));
  for (const char* attribute :
       {"affinity", "busid", "class", "count", "cpuset", "gp_index", "link_speed", "link_width",
        "numaid", "os_index", "pci_busid", "pci_link_speed", "pci_type", "sm", "speed", "target",
        "tclass", "type"}) {
    const auto key = " " + std::string(attribute) + "=\"";
    for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      const auto begin = at + key.size();
      auto damaged = text;
      damaged.replace(begin, text.find('"', begin) - begin, "x?");
      SCOPED_TRACE(text.substr(at, 60));
      expect_a_word(damaged, whole);
    }
  }
  const auto lines = lines_of(text);
  for (std::size_t row = 0; row < lines.size(); row += every_trial) {
    // Whole elements; another can be taken out only with what is in it, which is no XML then.
    if (!lines[row].ends_with("/>") || lines[row].find("<pci ") != std::string::npos ||
        lines[row].find("<info ") != std::string::npos) {
      continue;
    }
    auto damaged = lines;
    damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(row), lines[row]);
    SCOPED_TRACE(lines[row]);
    expect_a_word(fmt::to_string(fmt::join(damaged, "\n")), whole);
    damaged = lines;
    damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(row));
    if (lines[row].find("<nvlink") != std::string::npos) {
      EXPECT_NE(word_on(fmt::to_string(fmt::join(damaged, "\n"))), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ChangedXml,
                         testing::Values("dgx1.nccl.xml", "h100-nvswitch.nccl.xml",
                                         "gpu-node.hwloc.xml", "two-socket.hwloc.xml"),
                         [](const auto& file) {
                           return std::string(1, file.param[0]) + std::to_string(file.index);
                         });

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
