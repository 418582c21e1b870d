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
  /// Where messages come into places that others had before: the same messages once more, which
  /// nobody times, each compared before another takes its place. What is wrong, likewise.
  std::function<std::string(std::uint32_t number)> verify_each{};

  /// How often the messages are sent where so many times count.
  int all_times(int timed) const { return timed + (verify_each ? 1 : 0); }
};

/// What it reaches: bytes of all ranks by the span of all ranks, the median of so many times (at
/// least one), as what it is held against is one of runs. Each time is one of `checks`, and so is
/// verify_each. All ranks call it together. Empty where all were too short for the clock.
std::optional<double> median_exchange_GBps(Communicator& comm, const Clock& clock, int times,
                                           const ExchangeAlone& exchange,
                                           std::vector<Buffer> received, Checks& checks);

}  // namespace ucxbench
