#pragma once

#include <string>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/comparison/duets.hpp"
#include "harness/analysis/comparison/looks.hpp"
#include "harness/analysis/comparison/placements.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What is compared, and how launches are told apart.
struct TwoRuns {
  const Result& base;
  const Result& now;
  Placements placements{{&base, &now}};
  Judged judged_base{base}, judged_now{now};
};

// A change of just one step is none, whatever digits a file rounds to.
inline constexpr double a_little_more = 1.01;

/// What is known of one metric of a case.
struct Row {
  SeriesChange series;
  DuetValues duets{};    ///< empty where launches are compared
  Matched matched{};     ///< empty where duets are
  bool settled = false;  ///< judged; what comes later is left out
};

/// One metric of a case that both have: its ratio and its p-value, without a verdict. Of duets
/// where they measured any with each other, which are left to take_first_duets(), else of launches,
/// within placements.
Row weigh(const std::string& metric, const TwoRuns& runs, const Case& base, const Case& now,
          const Demands& demands);

/// To `row`, what the duets up to a look say: `p` over the looks until now, the interval by itself.
void take_first_duets(Row& row, const Look& look, const Demands& demands);

}  // namespace ucxbench
