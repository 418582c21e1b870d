#pragma once

#include <string>
#include <vector>

#include "harness/report/view.hpp"

namespace ucxbench {

/// Which transport set is best at which size, among the sets that a run measured with one API and
/// memory, UCX's own choice included.
struct Choice {
  std::string title;  ///< "best set, tag, host to host"
  Grid grid;          ///< one row per size; best set, its figure, what `auto` loses
  /// "latency: shm up to 4 KiB, tcp from 8 KiB", and the same of bandwidth.
  std::vector<std::string> crossovers;
  /// "not ranked: tcp at 8 B: impossible, …": sets whose case failed or has an impossible figure.
  std::vector<std::string> left_out;
};

/// Of every API and memory for which `auto` and two or more other sets were measured. The best set
/// is the one with the fewest members whose median is within 3 % of the best median: a member that
/// gains nothing is left out. Empty for other runs.
std::vector<Choice> choices_of(const Result& result);

}  // namespace ucxbench
