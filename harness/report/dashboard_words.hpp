#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/history/causes.hpp"
#include "harness/report/dashboard_rows.hpp"

namespace ucxbench {

/// The verdict of a page in words, and the worst one among it ("none" without any).
std::pair<std::string, std::string> headline_of(const std::vector<DashboardStream>& streams);

/// Where no row of any kind of run has a verdict: so many have none; else empty.
std::string nothing_decided_in(const std::vector<DashboardStream>& streams);

/// What to do for what has no verdict: what `compare` says of all such rows, then reasons of single
/// ones.
std::vector<std::string> next_steps_of(const NightComparison& night);

/// What to do about a stream's newest run, in one sentence; `history` are the losses that stand, as
/// the page has them.
std::string to_do(const DashboardStream& of, const std::vector<DashboardRow>& rows,
                  const std::vector<Cause>& causes, const Json& history,
                  const std::vector<std::string>& steps);

}  // namespace ucxbench
