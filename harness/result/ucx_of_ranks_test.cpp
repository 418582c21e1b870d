#include "harness/result/ucx_of_ranks.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(UcxOfRanks, IsOneVersionWhereAllHaveIt) {
  Result result;
  EXPECT_EQ(ucx_in_words(result), "-");
  result.ucx = {{"version", "1.22.0"}, {"components", {"tcp", "cma"}}};
  result.machine["hosts"] = {{{"name", "node0"}},
                             {{"name", "node1"}, {"ucx", {{"version", "1.22.0"}}}}};
  EXPECT_EQ(ucx_in_words(result), "1.22.0");
  EXPECT_EQ(differing_ucx(result), "");
}

TEST(UcxOfRanks, NamesVersionsAndWhatTheyLack) {
  Result result;
  result.ucx = {{"version", "1.22.0"}, {"components", {"tcp", "cma", "ib"}}};
  const auto host = [](const char* name, const char* version, const Json& components) -> Json {
    return {{"name", name}, {"ucx", {{"version", version}, {"components", components}}}};
  };
  result.machine["hosts"] = {{{"name", "node0"}},
                             host("node1", "1.22.0", {"tcp"}),
                             host("node2", "1.22.0", {"tcp"}),
                             host("node3", "1.13.1", {"tcp"})};
  EXPECT_EQ(ucx_in_words(result), "1.22.0, without cma, ib on node1, node2");
  result.ucx["versions"] = {{{"version", "1.13.1"}, {"ranks", {3}}, {"hosts", {"node3"}}},
                            {{"version", "1.22.0"},
                             {"ranks", {0, 1, 2}},
                             {"hosts", {"node0", "node1", "node2", "n4", "n5", "n6"}}}};
  EXPECT_EQ(several_versions(result.ucx),
            "1.13.1 (rank 3 on node3), 1.22.0 (ranks 0-2 on node0, node1, node2, n4 and 2 more)");
  EXPECT_EQ(ucx_in_words(result),
            several_versions(result.ucx) + ", without cma, ib on node1, node2");
}

}  // namespace
}  // namespace ucxbench
