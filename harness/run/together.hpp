#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/clock.hpp"
#include "harness/core/json.hpp"

namespace ucxbench {

// What several ranks did takes from the begin of the first to the end of the last. That is the only
// time by which bytes or messages of several ranks may be divided: each rank's own time begins when
// that rank begins to look, by which all may have come.

/// Processes of which this is equal read one CLOCK_MONOTONIC, or are on copies of one machine: see
/// TimeAxis.
std::string clock_identity();

/// Whether it is equal for all ranks, by what `identity` makes of the facts of one.
template <typename Facts, typename Identity>
bool have_one_identity(const std::vector<Facts>& ranks, Identity identity) {
  return std::ranges::all_of(
      ranks, [&](const Facts& rank) { return identity(rank) == identity(ranks.front()); });
}
inline bool have_one_identity(const std::vector<Json>& ranks) {
  return have_one_identity(ranks, [](const Json& rank) -> const Json& { return rank.at("clock"); });
}

/// When a rank was in a meeting of ranks, by its CLOCK_MONOTONIC: when it came, and when it left,
/// which was after the last one had come.
struct Met {
  std::uint64_t came_ns = 0, left_ns = 0;
};
template <typename Meet>
Met timed_meeting(Meet meet) {
  Met meeting{.came_ns = monotonic_ns()};
  meet();
  meeting.left_ns = monotonic_ns();
  return meeting;
}
Json to_json(const Met& meeting);
Met met_from(const Json& json);

/// A time on an axis that ranks share as far as that is known: it was between these.
struct Moment {
  double earliest_ns = 0, latest_ns = 0;
};

/// The time axis of ranks that have met: by their one clock, or else by each one's own since it was
/// in the meeting, which is wrong by up to the time that it spent there.
class TimeAxis {
 public:
  /// `meetings`: of each rank, one at least. `one_identity`: their clock_identity is equal. Their
  /// clocks count as one only where they could be, too: of one clock nobody leaves a meeting before
  /// the last one comes. Machines that were restored from one snapshot may have one identity.
  TimeAxis(bool one_identity, std::span<const Met> meetings);

  /// When a rank's clock read `ns`; `meeting` is that rank's.
  Moment at(std::uint64_t ns, const Met& meeting) const;

 private:
  bool one_clock_;
  std::uint64_t zero_ns_;
};

/// What carried some of the bytes: a stream, or a rank's part.
struct Span {
  Moment begin{}, end{};
  double bytes = 0;  ///< that came between them
};

/// What several were together.
struct Together {
  double common_ns = 0;  ///< all of them were under way, at least; 0 if they never were
  double span_ns = 0;    ///< from the first one's begin to the last one's end, at most
  double bytes = 0;

  /// All bytes by the whole span: never more than what was carried, whatever the overlap. Nothing
  /// where all were under way in less than four fifths of it: what did not happen together has no
  /// sum.
  std::optional<double> GBps() const;
};

/// Of one at least.
Together together_of(std::span<const Span> spans);

}  // namespace ucxbench
