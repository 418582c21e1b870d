#include "workloads/halo/grid.hpp"

#include <gtest/gtest.h>

namespace ucxbench::halo {
namespace {

TEST(Grid, IsAsSquareAsTheRanksAllow) {
  for (const auto& [ranks, rows] : {std::pair{1, 1}, {2, 1}, {4, 2}, {6, 2}, {7, 1}, {12, 3}}) {
    EXPECT_EQ(Grid::of(ranks).rows, rows) << ranks;
    EXPECT_EQ(Grid::of(ranks).columns, ranks / rows) << ranks;
  }
}

TEST(Grid, IsPeriodic) {
  const Grid grid{2, 3};
  EXPECT_EQ(grid.neighbour(0, north), 3);
  EXPECT_EQ(grid.neighbour(0, south), 3);
  EXPECT_EQ(grid.neighbour(0, west), 2);
  EXPECT_EQ(grid.neighbour(0, east), 1);
  EXPECT_EQ(grid.neighbour(5, east), 3);
  EXPECT_EQ(grid.neighbour(5, south), 2);
}

TEST(Grid, GoesBackByTheOppositeSide) {
  for (const auto ranks : {1, 2, 3, 4, 6, 9, 12}) {
    const auto grid = Grid::of(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      int others = 0;
      for (const auto side : sides) {
        const auto neighbour = grid.neighbour(rank, side);
        EXPECT_EQ(grid.neighbour(neighbour, opposite(side)), rank);
        others += neighbour != rank ? 1 : 0;
      }
      EXPECT_EQ(others, grid.edges_exchanged());
    }
  }
}

}  // namespace
}  // namespace ucxbench::halo
