#include "harness/run/tournament.hpp"

namespace ucxbench {

// Only one participant's: each of hundreds would make those of all.
std::vector<Meeting> tournament(int participants, int own) {
  std::vector<Meeting> meetings;
  const int seats = participants + participants % 2;
  const int circle = seats - 1;
  for (int turn = 0; turn < circle; ++turn) {
    const int distance = (own + circle - turn) % circle;  // from the seat that meets the last one
    const bool is_last = own == circle;
    const bool meets_last = !is_last && distance == 0;
    const int partner = is_last ? turn : meets_last ? circle : (turn + circle - distance) % circle;
    meetings.push_back({partner, is_last || (!meets_last && distance < seats / 2)});
  }
  return meetings;
}

std::optional<std::size_t> first_open_turn(int participants, std::size_t begin,
                                           const std::set<std::pair<int, int>>& met) {
  std::optional<std::size_t> first;
  for (int own = 0; own < participants; ++own) {
    const auto meetings = tournament(participants, own);
    for (auto turn = begin; turn < first.value_or(meetings.size()); ++turn) {
      const auto partner = meetings[turn].partner;
      if (partner < participants && !met.contains(std::minmax(own, partner))) first = turn;
    }
  }
  return first;
}

}  // namespace ucxbench
