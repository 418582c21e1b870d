#include "workloads/transpose/layout.hpp"

#include <algorithm>

namespace ucxbench::transpose {

std::uint64_t Layout::rank_of(std::uint64_t i) const { return ((i + 1) * ranks - 1) / chunks(); }

std::uint64_t Layout::rows_of(std::uint64_t rank) const {
  return std::min(size, first_chunk(rank + 1) * chunk) - std::min(size, first_chunk(rank) * chunk);
}

std::uint64_t Layout::place_in_x(std::uint64_t i, std::uint64_t j) const {
  return (i - first_chunk(rank_of(i))) * chunk * size + extent(i) * j * chunk;
}

std::uint64_t Layout::place_in_y(std::uint64_t i, std::uint64_t j) const {
  const auto wide = row_stride(chunk);
  const auto whole_row = (chunks() - 1) * wide + row_stride(extent(chunks() - 1));
  return (i - first_chunk(rank_of(i))) * chunk * whole_row + extent(i) * j * wide;
}

std::uint64_t Layout::x_bytes(std::uint64_t rank) const {
  return rows_of(rank) * size * sizeof(double);
}

std::uint64_t Layout::y_bytes(std::uint64_t rank) const {
  const auto whole_row = (chunks() - 1) * row_stride(chunk) + row_stride(extent(chunks() - 1));
  return rows_of(rank) * whole_row * sizeof(double);
}

std::uint64_t Layout::tiles_between(std::uint64_t from, std::uint64_t to) const {
  return own_chunks(from) * own_chunks(to);
}

std::uint64_t Layout::bytes_between(std::uint64_t from, std::uint64_t to) const {
  return rows_of(from) * rows_of(to) * sizeof(double);
}

std::uint64_t Layout::tiles_exchanged(std::uint64_t rank) const {
  return own_chunks(rank) * (chunks() - own_chunks(rank));
}

std::uint64_t Layout::bytes_exchanged(std::uint64_t rank) const {
  return rows_of(rank) * (size - rows_of(rank)) * sizeof(double);
}

std::uint64_t ring_slots(const Layout& layout, std::uint64_t rank, bool all) {
  constexpr std::uint64_t budget = std::uint64_t{64} << 20U;
  const auto to_come = layout.tiles_exchanged(rank);
  const auto largest = std::max<std::uint64_t>(layout.tile(0, 0).bytes(), sizeof(double));
  const auto slots = std::max<std::uint64_t>(budget / largest, 2);
  return all ? to_come : std::min(slots, to_come);
}

std::uint64_t bytes_needed(const Layout& layout, bool keep, bool all_received) {
  std::uint64_t bytes = 0;
  for (std::uint64_t rank = 0; rank < layout.ranks; ++rank) {
    bytes += layout.x_bytes(rank) + (keep ? layout.y_bytes(rank) : 0) +
             ring_slots(layout, rank, all_received) * layout.tile(0, 0).bytes();
  }
  return bytes;
}

}  // namespace ucxbench::transpose
