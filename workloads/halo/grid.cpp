#include "workloads/halo/grid.hpp"

namespace ucxbench::halo {

Grid Grid::of(int ranks) {
  int rows = 1;
  for (int divisor = 2; divisor * divisor <= ranks; ++divisor) {
    if (ranks % divisor == 0) rows = divisor;
  }
  return {rows, ranks / rows};
}

int Grid::neighbour(int rank, Side side) const {
  auto row = rank / columns;
  auto column = rank % columns;
  if (side == north) row = (row + rows - 1) % rows;
  if (side == south) row = (row + 1) % rows;
  if (side == west) column = (column + columns - 1) % columns;
  if (side == east) column = (column + 1) % columns;
  return row * columns + column;
}

}  // namespace ucxbench::halo
