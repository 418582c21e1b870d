#pragma once

#include <vector>

#include "bench/p2p/parameters.hpp"

namespace ucxbench::p2p {

/// `src` sends to `dst`.
struct Pair {
  int src = 0, dst = 0;
  bool operator==(const Pair&) const = default;
};

/// The pairs that send at once, round after round; every ordered pair of ranks is in one round.
/// Disjoint: the circle method of round-robin tournaments, N − 1 pairings of an even number of
/// ranks (N of an odd one, where one rank rests), each in both directions one after the other.
std::vector<std::vector<Pair>> rounds_of(Concurrent concurrent, int ranks);

}  // namespace ucxbench::p2p
