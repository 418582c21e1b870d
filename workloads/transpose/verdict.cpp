#include "workloads/transpose/verdict.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace ucxbench::transpose {
namespace {

using Place = std::pair<std::uint64_t, std::uint64_t>;

// The tile of x with this sum and the shape of (i, j), among those of its row and column.
const Place* find_tile(const std::vector<Place>& among, const Layout& layout, const Tile& shape,
                       std::uint64_t sum) {
  for (const auto& place : among) {
    const auto tile = layout.tile(place.first, place.second);
    const bool same_shape = tile.rows == shape.rows && tile.columns == shape.columns;
    if (same_shape && sum_of_x(layout.size, tile) == sum) return &place;
  }
  return nullptr;
}

}  // namespace

std::string what_is_wrong(const Layout& layout, std::uint64_t i, std::uint64_t j,
                          const Checksum& expected, const Checksum& made) {
  if (made == expected) return "";
  const auto name = fmt::format("tile ({}, {}) of y", i, j);
  if (made == Checksum{}) return name + " was never made";
  if (made.sum == expected.sum) {
    return name + " has the right sum, but its elements stand in the wrong places";
  }
  const auto tile = layout.tile(i, j);
  std::vector<Place> others;
  for (std::uint64_t k = 0; k < layout.chunks(); ++k) {
    others.emplace_back(k, i);
    others.emplace_back(j, k);
  }
  const auto added = made.sum - sum_of_x(layout.size, tile);
  if (const auto* other = find_tile(others, layout, tile.transposed(), added)) {
    return fmt::format("{} was made with tile ({}, {}) of x in the place of ({}, {})", name,
                       other->first, other->second, j, i);
  }
  return fmt::format("{} has wrong elements: their sum is {}, not {}", name, made.sum,
                     expected.sum);
}

}  // namespace ucxbench::transpose
