#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench {

/// A workload's messages when nothing is computed, on one rank.
struct ExchangeAlone {
  /// Before the clock starts, and after what is received into was poisoned: what is sent.
  std::function<void(std::uint32_t number)> prepare = [](std::uint32_t) {};
  /// Returns the bytes that this rank sent.
  std::function<std::uint64_t(std::uint32_t number)> carry_out;
  /// What is wrong with what came last into each place, in words, or nothing.
  std::function<std::string()> verify;
};

/// What it reaches: bytes of all ranks by the span of all ranks, the median of so many times (at
/// least one), as what it is held against is one of runs. Each time is one of `checks`. All ranks
/// call it together. Empty where all were too short for the clock.
std::optional<double> median_exchange_GBps(Communicator& comm, const Clock& clock, int times,
                                           const ExchangeAlone& exchange,
                                           std::vector<Buffer> received, Checks& checks);

}  // namespace ucxbench
