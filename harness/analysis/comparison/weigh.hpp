#pragma once

#include <string>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/comparison/placements.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What is compared, and how launches are told apart.
struct TwoRuns {
  const Result& base;
  const Result& now;
  Placements placements{{&base, &now}};
};

// A change of just one step is none, whatever digits a file rounds to.
inline constexpr double a_little_more = 1.01;

/// One metric of a case that both have: its ratio and its p-value, without a verdict. Of duets
/// where they measured any with each other, else of launches, within placements.
SeriesChange weigh(const std::string& metric, const TwoRuns& runs, const Case& base,
                   const Case& now, const Demands& demands);

}  // namespace ucxbench
