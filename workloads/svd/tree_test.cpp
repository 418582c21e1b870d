#include "workloads/svd/tree.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ucxbench::svd {
namespace {

class Trees : public testing::TestWithParam<int> {};

TEST_P(Trees, HaveEachRankBelowOneOther) {
  const int ranks = GetParam();
  std::vector<int> taken(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto tree = Tree::of(rank, ranks);
    EXPECT_EQ(tree.parent.has_value(), rank != 0);
    int last_level = -1;
    for (const auto& child : tree.children) {
      ++taken[static_cast<std::size_t>(child.rank)];
      EXPECT_GT(child.level, last_level);
      last_level = child.level;
      const auto parent = Tree::of(child.rank, ranks).parent;
      ASSERT_TRUE(parent);
      EXPECT_EQ(parent->rank, rank);
      EXPECT_EQ(parent->level, child.level);
    }
    if (tree.parent) {
      EXPECT_GT(tree.parent->level, last_level);
      EXPECT_LT(tree.parent->level, tree.depth);
    }
  }
  EXPECT_EQ(taken[0], 0);
  for (int rank = 1; rank < ranks; ++rank) EXPECT_EQ(taken[static_cast<std::size_t>(rank)], 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Trees, testing::Values(1, 2, 3, 4, 5, 6, 8, 13));

TEST(Trees, AreAsDeepAsTheNumberOfRanksDoubles) {
  EXPECT_EQ(Tree::of(0, 1).depth, 0);
  EXPECT_EQ(Tree::of(1, 2).depth, 1);
  EXPECT_EQ(Tree::of(2, 4).depth, 2);
  EXPECT_EQ(Tree::of(4, 5).depth, 3);
}

}  // namespace
}  // namespace ucxbench::svd
