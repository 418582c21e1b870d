#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/run/runner.hpp"

namespace ucxbench {

/// How long a run takes, as far as its plan tells: launches x (start-up + cases x time per case).
struct Estimate {
  double seconds = 0;     ///< of what the plan tells, with a machine that nobody else uses
  bool at_least = false;  ///< some cases take as long as their data take to move
  bool capped = false;    ///< max_time ends it sooner
};

Estimate estimate(const std::vector<Case>& cases, const std::vector<LaunchPlan>& plans,
                  const Schedule& schedule);

/// "about 38 s", or "at least 4 s".
std::string in_words(const Estimate& estimate);

/// "takes about 38 s", with a word on what else the machine does; empty where no plan can run.
std::string time_in_words(const Result& result, const std::vector<LaunchPlan>& plans,
                          const Schedule& schedule);

/// "38 s", "12 min", "1.5 h".
std::string rough_time(double seconds);

}  // namespace ucxbench
