#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/comm/flows.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::incast {

// Round trips of 8 bytes in host memory: the rank that times them asks, the hot rank answers with
// whether they count. Both call their function at once.

/// Ticks of each round trip during which the answer says that it counts.
std::vector<std::uint64_t> ask(Communicator& comm, const Clock& clock);

/// Answers so many, all of which count.
void answer(Communicator& comm, std::uint64_t round_trips);

/// Answers until `load` is over, which this carries out. Those count that are answered after a
/// first message of it has come and before the last one has.
void answer_beside(Communicator& comm, Flows& load);

}  // namespace ucxbench::incast
