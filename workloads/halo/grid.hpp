#pragma once

#include <array>
#include <cstdint>

namespace ucxbench::halo {

/// Sides of a tile, and the ways on which edges travel.
enum Side : std::uint8_t { north, south, west, east };
inline constexpr std::array<Side, 4> sides = {north, south, west, east};

constexpr Side opposite(Side side) { return static_cast<Side>(side ^ 1U); }

/// The ranks as rows and columns, row by row; the domain is periodic, so that every rank has four
/// neighbours, some of which may be one rank, or the rank itself.
struct Grid {
  int rows = 1, columns = 1;

  /// As square as so many ranks allow, never with more rows than columns.
  static Grid of(int ranks);

  int neighbour(int rank, Side side) const;

  /// How many of the four edges of a rank go to another one; the same for all.
  int edges_exchanged() const { return (rows > 1 ? 2 : 0) + (columns > 1 ? 2 : 0); }
};

}  // namespace ucxbench::halo
