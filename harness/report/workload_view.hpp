#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/view.hpp"

namespace ucxbench {

/// Whether any case can be held against one with fewer ranks: else there is no efficiency to tell.
bool has_efficiency(const Block& block);

/// One row per case: time, throughput, exchange, and how the time scales.
Grid workload_metrics_of(const Block& block);

/// Where the time of a case goes, phase by phase.
Grid phases_of(const Case& of);

/// What the ranks of a case received from each other: the largest flows, or the slowest if all are
/// of one size.
Grid flows_of(const Case& of);

/// What was exchanged, and how far that was hidden behind computing; how much memory it took; as
/// (name, text).
std::vector<std::pair<std::string, std::string>> exchange_of(const Case& of);

}  // namespace ucxbench
