#include "bench/p2p/schedule.hpp"

#include <utility>

namespace ucxbench::p2p {
namespace {

// The last seat stays, the others move on by one each time; with an odd number it is nobody's. Only
// this rank's own: each of hundreds of ranks would make those of all.
std::vector<Part> disjoint_parts(int ranks, int rank) {
  std::vector<Part> parts;
  const int seats = ranks + ranks % 2;
  const int circle = seats - 1;
  for (int turn = 0; turn < circle; ++turn) {
    const int distance = (rank + circle - turn) % circle;  // from the seat that meets the last one
    const bool is_last = rank == circle;
    const bool meets_last = !is_last && distance == 0;
    const int partner = is_last ? turn : meets_last ? circle : (turn + circle - distance) % circle;
    const bool sends_first = is_last || (!meets_last && distance < seats / 2);
    Part there;
    Part back;
    if (partner < ranks) {
      (sends_first ? there.to : there.from) = {partner};
      (sends_first ? back.from : back.to) = {partner};
    }
    parts.push_back(std::move(there));
    parts.push_back(std::move(back));
  }
  return parts;
}

}  // namespace

std::vector<Pair> ordered_pairs(int ranks) {
  std::vector<Pair> pairs;
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src != dst) pairs.push_back({src, dst});
    }
  }
  return pairs;
}

std::vector<Part> parts_of(Concurrent concurrent, int ranks, int rank) {
  if (concurrent == Concurrent::disjoint) return disjoint_parts(ranks, rank);
  std::vector<Part> parts(1);
  for (const auto& [src, dst] : ordered_pairs(ranks)) {
    if (src == rank) parts.back().to.push_back(dst);
    if (dst == rank) parts.back().from.push_back(src);
    if (concurrent == Concurrent::one) parts.emplace_back();
  }
  if (concurrent == Concurrent::one) parts.pop_back();
  return parts;
}

}  // namespace ucxbench::p2p
