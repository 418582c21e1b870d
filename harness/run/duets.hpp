#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/duet.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

/// Why the cases of a plan cannot be measured as duets; empty if they can. What runs must be able
/// to pause, and nothing but this host's CPUs may be shared.
std::string why_no_duet(const LaunchPlan& plan, const Result& result);

/// Of cases that could be duets, when the other side's offer is another.
inline constexpr const char* other_side_differs =
    "the other side has other cases, other CPUs, or cannot pause";

/// For DuetSupervisor::begin_launch: the same on both sides where both have the same cases on the
/// same CPUs, 0 where they can be no duets.
std::uint64_t duet_offer(const LaunchPlan& plan, const Result& result);

/// What each metric of a case has in a duet.
struct PlannedBlocks {
  std::uint64_t iterations = 0;  ///< that count; a third as many come before
  std::string quads;             ///< as DuetBlocks has them
};

struct BlockLimits {
  double time_s = 0;         ///< for the blocks of each side, together
  std::uint64_t least = 1;   ///< iterations, where the time suffices for them
  std::uint64_t fewest = 4;  ///< iterations, whatever the time
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  ///< iterations
  std::uint64_t least_quads = 5;           ///< whatever the time: a trimmed mean of fewer is none
  std::optional<std::uint64_t> exactly{};  ///< as many iterations, whatever the time
};

/// For `what`, a metric of a case, of which an iteration takes `iteration_s` here and now: blocks
/// of 2 ms, longer where that would hold fewer than `least` iterations, shorter where the fewest
/// quads that will do would take too long. All ranks call it in a phase, and get what rank 0 of
/// base decides; `share` gives the value of rank 0 to all ranks of this side.
PlannedBlocks plan_blocks(DuetRank& duet, const std::string& what, double iteration_s,
                          const BlockLimits& limits,
                          const std::function<std::uint64_t(std::uint64_t)>& share);

/// How many iterations a block leaves out at its begin, until caches are its own again.
std::uint64_t iterations_left_out(std::uint64_t iterations);

/// Of all iterations in order, the median of each block's; empty unless every iteration has one.
std::vector<double> medians_of_blocks(const std::vector<double>& iterations,
                                      const PlannedBlocks& planned);

/// A launch's samples of a metric in a duet. A quantile of blocks is none of iterations: but the
/// median and the extremes are left out.
Samples samples_of_blocks(const std::vector<double>& values);

/// Puts a metric of a duet into the record of its launch.
void keep_blocks(LaunchRecord& record, const DuetRank& duet, const std::string& metric,
                 const PlannedBlocks& planned, std::vector<double> values);

}  // namespace ucxbench
