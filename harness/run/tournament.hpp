#pragma once

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

}  // namespace ucxbench
