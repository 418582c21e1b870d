#pragma once

#include <string>
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
///
/// `hosts` says where each rank is, by any name. With several, a disjoint round is either all
/// between hosts or all within them. First hosts meet by the same method, each rank with the one of
/// its number on the other host, so that a round loads each rank's way to its NIC once; then again
/// with the next number, until all have met; within hosts last.
std::vector<Part> parts_of(Concurrent concurrent, const std::vector<std::string>& hosts, int rank);

}  // namespace ucxbench::p2p
