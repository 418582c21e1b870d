#pragma once

#include <cstdint>
#include <vector>

#include "harness/comm/communicator.hpp"

namespace ucxbench {

/// Small control values outside the clock: gives every rank its words and returns what each rank
/// had for this one. All ranks call it in the same order, with equally many words for each other;
/// two ranks with none for each other exchange no message.
std::vector<std::vector<std::uint64_t>> all_to_all(
    Communicator& comm, const std::vector<std::vector<std::uint64_t>>& words);

/// The same words to everyone.
std::vector<std::vector<std::uint64_t>> all_gather(Communicator& comm,
                                                   const std::vector<std::uint64_t>& words);

}  // namespace ucxbench
