#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ucxbench::replay {

/// A stretch of time, in nanoseconds.
struct Stretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
};

/// Where a rank's time went. `gaps`: it did what it had done between its messages, or nothing;
/// `transferring`: it waited, and both ends of one of its messages were ready; `waiting`: for other
/// ranks.
enum class Doing : std::size_t { gaps, transferring, waiting };

struct Part {
  Doing doing;
  Stretch when;
};

/// All of a run, cut into parts, in their order. `gaps` do not overlap each other, `transfers`, of
/// which both ends are ready, may.
std::vector<Part> parts_of(Stretch run, std::span<const Stretch> gaps,
                           std::span<const Stretch> transfers);

}  // namespace ucxbench::replay
