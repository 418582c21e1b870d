#include "harness/analysis/imports/line_prefixes.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "harness/analysis/imports/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr const char* shown_matrix =
    "\tGPU0\tGPU1\tmlx5_0\n"
    "GPU0\t X \tNV12\tPIX\n"
    "GPU1\tNV12\t X \tSYS\n"
    "mlx5_0\tPIX\tSYS\t X\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n";

constexpr const char* small_xml =
    "<system version=\"1\">\n  <cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" "
    "vendor=\"GenuineIntel\">\n"
    "    <pci busid=\"0000:01:00.0\" class=\"0x030200\">\n      <gpu dev=\"0\" sm=\"80\" "
    "rank=\"0\"/>\n"
    "    </pci>\n  </cpu>\n</system>\n";

/// What `prefix` says of each line, by its number, stands before it.
std::string behind(const std::string& text, const std::function<std::string(int)>& prefix) {
  std::string all;
  int number = 0;
  for (const auto line : split_text(trim_text(text), '\n')) {
    all += prefix(number++) + std::string(line) + "\n";
  }
  return all;
}

std::string behind(const std::string& text, const std::string& prefix) {
  return behind(text, [&](int) { return prefix; });
}

TEST(LinePrefixes, OfEachLineAreLeftOut) {
  const auto time = [](int line) { return "2026-11-29T00:42:" + std::to_string(10 + line); };
  for (const std::string& text : {std::string(shown_matrix), std::string(small_xml),
                                  json_text(to_json(import_topology_text(small_xml)), 2) + "\n"}) {
    const auto graph = to_json(import_topology_text(text));
    for (const auto& pasted : {
             behind(text, "| "),
             behind(text, "> "),
             behind(text, "> > "),
             behind(text, "[1,0]<stdout>:"),
             behind(text, "[1,0]<stdout>: "),
             behind(text, "node1: "),
             behind(text, "0: "),
             behind(text, "\x1b[36mtopology |\x1b[0m "),
             behind(text, [&](int line) { return time(line) + ".1234567Z "; }),
             behind(text, [&](int line) { return "[" + time(line) + "+01:00] node1: "; }),
             behind(text, [&](int line) { return time(line).substr(11) + " > "; }),
         }) {
      EXPECT_EQ(to_json(import_topology_text(pasted)).at("pairs"), graph.at("pairs")) << pasted;
      EXPECT_EQ(to_json(import_topology_text(pasted)).at("devices"), graph.at("devices"));
    }
  }
}

TEST(LinePrefixes, AreNoPartsOfWhatWasPrinted) {
  for (const std::string text :
       {"GPU0 CPU Affinity\nGPU0 X 0-3\n", "{}", "<a>\n<b>\n", "\n", "",
        "Model: A100\nDriver: 535\nGPU0 GPU1\n", "fw_ver: 1\nguid: 2\nfw_ver: 1\nguid: 2\n"}) {
    EXPECT_EQ(without_line_prefixes(text), text);
  }
}

TEST(LinePrefixes, OfSeveralAreRefused) {
  const auto refusal = [](const std::string& text) {
    return refusal_by([&] { import_topology_text(text); });
  };
  EXPECT_EQ(refusal(behind(shown_matrix, "node1: ") + behind(shown_matrix, "node2: ")),
            "lines of several begin with 'node1:', 'node2:': give those of one, without that");
  EXPECT_EQ(
      refusal(behind(shown_matrix, "[1,0]<stdout>:") + behind(shown_matrix, "[1,1]<stdout>:")),
      "lines of several begin with '[1,0]<stdout>:', '[1,1]<stdout>:': give those of one, "
      "without that");
  EXPECT_EQ(refusal(behind(shown_matrix, "node1: ") + "mlx5_1 PIX SYS PIX\n"),
            "line 9 does not begin with 'node1:' as the others do: give the text as it was "
            "printed");
}

}  // namespace
}  // namespace ucxbench
