#pragma once

#include <vector>

#include "bench/p2p/parameters.hpp"

namespace ucxbench::p2p {

/// `src` sends to `dst`.
struct Pair {
  int src = 0, dst = 0;
  bool operator==(const Pair&) const = default;
};

/// Every ordered pair of ranks; one after the other, in this order.
std::vector<Pair> ordered_pairs(int ranks);

/// A rank's part in a round, the pairs that send at once.
struct Part {
  std::vector<int> to, from;
};

/// The parts of `rank` in all rounds, some of them empty; every ordered pair of ranks is in one
/// round. Disjoint: the circle method of round-robin tournaments, N − 1 pairings of an even number
/// of ranks (N of an odd one, where one rank rests), each in both directions one after the other.
std::vector<Part> parts_of(Concurrent concurrent, int ranks, int rank);

}  // namespace ucxbench::p2p
