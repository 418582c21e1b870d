#include "bench/kv/layout.hpp"

#include <algorithm>
#include <numeric>

namespace ucxbench::kv {
namespace {

// Coprime to `count`, and near its golden section, so that the first blocks of a layer are far
// apart.
std::uint64_t step_of(std::uint64_t count) {
  auto step = std::max<std::uint64_t>(count * 618 / 1000, 1);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

Layout::Layout(const Shape& shape)
    : shape_(shape), peers_(static_cast<std::size_t>(shape.prefill + shape.decode)) {
  const auto pairs = std::max(shape_.prefill, shape_.decode);
  for (int pair = 0; pair < pairs; ++pair) {
    const auto prefill = pair * shape_.prefill / pairs;
    const auto decode = shape_.prefill + pair * shape_.decode / pairs;
    peers_[static_cast<std::size_t>(prefill)].push_back(decode);
    peers_[static_cast<std::size_t>(decode)].push_back(prefill);
  }
  of_pair_ = shape_.descriptors / peers_.back().size();
  layers_ = std::min(shape_.layers, of_pair_);
}

std::size_t Layout::number_among_peers(int rank, int peer) const {
  const auto& there = peers_of(peer);
  return static_cast<std::size_t>(std::ranges::find(there, rank) - there.begin());
}

std::uint64_t Layout::place(int rank, std::size_t peer, std::uint64_t layer,
                            std::uint64_t number) const {
  const auto first = before_layer(layer);
  const auto count = before_layer(layer + 1) - first;
  const auto slot = decodes(rank) ? number - first : (number - first) * step_of(count) % count;
  return (first + slot) * block_of(rank) + peer * shape_.bytes;
}

}  // namespace ucxbench::kv
