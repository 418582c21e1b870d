#include "bench/p2p/schedule.hpp"

namespace ucxbench::p2p {
namespace {

std::vector<Pair> all_pairs(int ranks) {
  std::vector<Pair> pairs;
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src != dst) pairs.push_back({src, dst});
    }
  }
  return pairs;
}

// The last seat stays, the others move on by one each time; with an odd number it is nobody's.
std::vector<std::vector<Pair>> disjoint_rounds(int ranks) {
  std::vector<std::vector<Pair>> rounds;
  const int seats = ranks + ranks % 2;
  const int circle = seats - 1;
  for (int turn = 0; turn < circle; ++turn) {
    std::vector<Pair> there;
    if (seats == ranks) there.push_back({circle, turn});
    for (int k = 1; k < seats / 2; ++k) {
      there.push_back({(turn + k) % circle, (turn + circle - k) % circle});
    }
    std::vector<Pair> back;
    for (const auto& [src, dst] : there) back.push_back({dst, src});
    if (there.empty()) continue;
    rounds.push_back(std::move(there));
    rounds.push_back(std::move(back));
  }
  return rounds;
}

}  // namespace

std::vector<std::vector<Pair>> rounds_of(Concurrent concurrent, int ranks) {
  if (concurrent == Concurrent::disjoint) return disjoint_rounds(ranks);
  if (concurrent == Concurrent::all) return {all_pairs(ranks)};
  std::vector<std::vector<Pair>> rounds;
  for (const auto& pair : all_pairs(ranks)) rounds.push_back({pair});
  return rounds;
}

}  // namespace ucxbench::p2p
