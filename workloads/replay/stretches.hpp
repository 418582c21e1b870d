#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/transfer_log.hpp"

namespace ucxbench::replay {

/// What a rank did. `gaps`: it spent the recorded time between its messages; `transferring`: it
/// waited, and both ends of one of its messages were ready; `waiting`: it waited for other ranks.
enum class Doing : std::size_t { gaps, transferring, waiting };

struct Part {
  Doing doing;
  Stretch when;
};

/// Divides a run into parts, in order. `gaps` must not overlap each other. `transfers`, during
/// which both ends of a message are ready, may.
std::vector<Part> parts_of(Stretch run, std::span<const Stretch> gaps,
                           std::span<const Stretch> transfers);

}  // namespace ucxbench::replay
