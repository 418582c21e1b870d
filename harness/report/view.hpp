#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/text.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {

/// A doubt about the data, always with what to do about it.
struct Doubt {
  std::string subject;   ///< "pingpong tag, host to host, over tcp", or "run"
  std::string evidence;  ///< "95% CI up to 31% wide …"
  std::string advice;    ///< "close other programs, or raise --launches"
};

/// Who, where and how: ranks, pairs, CPUs, lanes, launches, the other parameters. Empty when
/// nothing was measured.
std::string details_of(const Block& block, const Result& result);

/// One row per measured size: latency, bandwidth, message rate, as far as they were measured.
Grid metrics_of(const Block& block);

/// With several pairs at once: one row per pair, at the smallest and the largest size.
Grid pairs_of(const Block& block);

/// "skipped 8 B to 1 MiB (18 cases): reason", one per reason; `failed` tells the serious ones.
struct NotMeasured {
  bool failed = false;
  std::string line;
};
std::vector<NotMeasured> not_measured(const Block& block);

/// What was paid once, what measuring costs, what was verified; as (name, text).
std::vector<std::pair<std::string, std::string>> costs_of(const Block& block);

/// Where and with what: as (name, text).
std::vector<std::pair<std::string, std::string>> environment_of(const Result& result);

/// Doubts that follow from the numbers, and the findings recorded in the run.
std::vector<Doubt> doubts_of(const Result& result);

}  // namespace ucxbench
