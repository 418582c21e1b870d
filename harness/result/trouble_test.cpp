#include "harness/result/trouble.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(UcxWarnings, ThatDifferInNumbersAreOne) {
  Json ucx;
  add_ucx_warning(ucx, 2, "ERROR ep 0x7f12ab34 failed after 12 ms");
  add_ucx_warning(ucx, 0, "ERROR ep 0x55d0c0de failed after 7 ms");
  add_ucx_warning(ucx, 0, "ERROR ep 0x55d0c0de failed after 8 ms");
  add_ucx_warning(ucx, 0, "WARN something else");
  EXPECT_EQ(
      ucx["warnings"],
      Json::array(
          {{{"line", "ERROR ep 0x7f12ab34 failed after 12 ms"}, {"count", 3}, {"ranks", {0, 2}}},
           {{"line", "WARN something else"}, {"count", 1}, {"ranks", {0}}}}));
}

TEST(UcxWarnings, AreNotWithoutBound) {
  Json ucx;
  for (std::size_t kind = 0; kind < most_kinds_of_warning + 5; ++kind) {
    add_ucx_warning(ucx, 0, "WARN " + std::string(kind + 1, 'x'));
  }
  add_ucx_warning(ucx, 1, "WARN x");
  EXPECT_EQ(ucx["warnings"].size(), most_kinds_of_warning);
  EXPECT_EQ(ucx["warnings"][0]["count"], 2);
  add_ucx_warning(ucx, 0, std::string(10'000, 'y'));
  EXPECT_EQ(ucx["warnings"].size(), most_kinds_of_warning);
  Json long_line;
  add_ucx_warning(long_line, 0, "WARN\t" + std::string(10'000, 'y'));
  const auto line = long_line["warnings"][0]["line"].get<std::string>();
  EXPECT_EQ(line.size(), 500U);
  EXPECT_TRUE(line.starts_with("WARN yyy"));
}

Json moved(const std::string& name_space, std::uint64_t before, std::uint64_t after) {
  return {{"host", "node07"},
          {"network_namespace", name_space},
          {"moved",
           Json::array({{{"name", "tcp/RetransSegs"}, {"before", before}, {"after", after}}})}};
}

TEST(ErrorCounters, SpanRanksAndLaunches) {
  Json machine;
  add_error_counters(machine, moved("net:[1]", 5, 7));
  add_error_counters(machine, moved("net:[1]", 4, 6));
  add_error_counters(machine, moved("net:[1]", 9, 12));
  add_error_counters(machine, moved("net:[2]", 0, 1));
  EXPECT_EQ(machine["error_counters"], Json::array({{{"host", "node07"},
                                                     {"network_namespace", "net:[1]"},
                                                     {"name", "tcp/RetransSegs"},
                                                     {"before", 4},
                                                     {"after", 12}},
                                                    {{"host", "node07"},
                                                     {"network_namespace", "net:[2]"},
                                                     {"name", "tcp/RetransSegs"},
                                                     {"before", 0},
                                                     {"after", 1}}}));
}

}  // namespace
}  // namespace ucxbench
