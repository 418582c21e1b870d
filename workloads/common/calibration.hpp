#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench {

/// What an exchange reaches when nothing is computed: bytes of all ranks by the span of all
/// ranks, the median of so many times (at least one), as what it is held against is one of runs.
/// `exchange(number)` carries it out on this rank and returns the bytes that this rank sent. All
/// ranks call it together. Empty where all were too short for the clock.
std::optional<double> median_exchange_GBps(
    Communicator& comm, const Clock& clock, int times,
    const std::function<std::uint64_t(std::uint32_t number)>& exchange);

}  // namespace ucxbench
