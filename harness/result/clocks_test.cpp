#include "harness/result/clocks.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(HostClocks, BringTimesToTheFirstHost) {
  Result result;
  result.machine = {{"hosts", {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}}}};
  for (int rank = 0; rank < 3; ++rank) {
    result.ranks.push_back({{"rank", rank}, {"host", result.machine["hosts"][rank]["name"]}});
  }
  result.run["clocks"] = {{{"launch", 4},
                           {"cases", {2, 3}},
                           {"host", "b"},
                           {"begin", {{"at_ns", 1000}, {"offset_ns", -400}, {"uncertainty_ns", 7}}},
                           {"end", {{"at_ns", 2000}, {"offset_ns", -390}, {"uncertainty_ns", 9}}}},
                          {{"launch", 5},
                           {"cases", {3}},
                           {"host", "b"},
                           {"begin", {{"at_ns", 1000}, {"offset_ns", 100}, {"uncertainty_ns", 8}}},
                           {"end", nullptr}}};
  const HostClocks clocks(result);
  EXPECT_EQ(clocks.of(3, 4, 0)->on_first(1500), 1500);
  EXPECT_EQ(clocks.of(3, 4, 0)->uncertainty_ns(), 0U);
  EXPECT_EQ(clocks.of(3, 4, 1)->on_first(600), 1000);
  EXPECT_EQ(clocks.of(2, 4, 1)->on_first(1105), 1500);
  EXPECT_EQ(clocks.of(2, 4, 1)->on_first(1610), 2000);
  EXPECT_EQ(clocks.of(2, 4, 1)->uncertainty_ns(), 9U);
  EXPECT_EQ(clocks.of(3, 5, 1)->on_first(1610), 1510);
  EXPECT_FALSE(clocks.of(2, 5, 1));
  EXPECT_FALSE(clocks.of(3, 4, 2));
}

}  // namespace
}  // namespace ucxbench
