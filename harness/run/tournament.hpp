#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ucxbench {

/// Who meets a participant in a turn of a tournament, and who of both sends first.
struct Meeting {
  int partner = 0;  ///< not below the number of participants: nobody
  bool sends_first = false;
};

/// The meetings of participant `own` of so many, turn after turn, so that each meets every other
/// one once: N − 1 turns of an even number, N of an odd one, in which each rests once. The circle
/// method: the last seat stays, the others move on by one each time.
std::vector<Meeting> tournament(int participants, int own);

/// The first turn from `begin` on in which two meet who are not among those that have met, each
/// pair with its lower number first. Empty where all have.
std::optional<std::size_t> first_open_turn(int participants, std::size_t begin,
                                           const std::set<std::pair<int, int>>& met);

}  // namespace ucxbench
