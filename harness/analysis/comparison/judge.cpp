#include "harness/analysis/comparison/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/analysis/comparison/rank_tests.hpp"
#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Of launches, where an interval has no end: far beyond what anybody measures.
constexpr double most_wanted = 1e9;

void say_why(SeriesChange& series, double alpha, std::size_t tests) {
  const auto least = static_cast<double>(tests) * series.smallest_p;
  const auto launches = std::min(series.base_launches, series.new_launches);
  const auto needed = launches_needed(tests, alpha, series.method);
  const auto not_compared = series.launches_run - std::min(series.launches_run, launches);
  const bool of_duets = series.method == Method::duets;
  if (least > alpha && (of_duets || launches < needed)) {
    series.doubt = Doubt::too_few_launches;
    series.launches_wanted = std::max(needed, launches + 1) + not_compared;
    series.reason = Reason::launches;
    series.why =
        of_duets ? fmt::format("{} are too few for a verdict among {}", counted(launches, "duet"),
                               counted(tests, "test"))
                 : fmt::format("{} and {} launches are too few for a verdict among {}",
                               series.base_launches, series.new_launches, counted(tests, "test"));
    return;
  }
  if (least > alpha) {
    series.reason = Reason::placement;
    series.why =
        "too few launches with the same placement: bind both to the same CPUs, rerun interleaved "
        "(ucx-bench ab)";
    return;
  }
  const auto [low, high] = series.ratio.interval.value_or(std::array{0.5, 2.0});
  if (4 * series.resolution > high - low) {
    series.reason = Reason::clock;
    series.why =
        fmt::format("the clock is too coarse: changes below {:.1f} % (two steps) are hidden",
                    200 * series.resolution / a_little_more);
    return;
  }
  // On logarithms, an interval shrinks with the square root of the number of launches, around the
  // estimate: until it leaves out what least_that_matters, or no change, whichever is further from
  // the estimate. A change of more than that may be chance.
  const auto matters = std::log1p(least_that_matters);
  const auto change = std::min(std::abs(std::log(series.ratio.estimate)), matters);
  const auto times = std::pow(std::log(high / low) / 2 / std::max(matters - change, change), 2);
  const auto more = static_cast<double>(launches) * std::max(1.0, times);
  series.doubt = Doubt::too_noisy;
  series.launches_wanted =
      not_compared + static_cast<std::size_t>(std::ceil(
                         std::min(most_wanted, std::max(static_cast<double>(launches) + 1, more))));
  series.reason = Reason::noise;
  series.why = fmt::format("noise hides changes below {:.0f} %", 100 * least_that_matters);
}

// Its whole interval.
bool is_all_within(const Ratio& ratio, double floor) {
  return ratio.interval && is_within((*ratio.interval)[0], floor) &&
         is_within((*ratio.interval)[1], floor);
}

void decide(SeriesChange& series, double alpha, std::size_t tests) {
  if (!series.base || !series.now) return;
  series.doubt = Doubt::none;
  series.launches_wanted = 0;
  series.reason = Reason::none;
  series.why.clear();
  const auto change = series.ratio.estimate;
  if (series.corrected < alpha && !is_within(change, series.floor)) {
    const bool lower_is_better = series.better == "lower";
    series.change = (change > 1) == lower_is_better ? Change::regressed : Change::improved;
    series.remark = series.differs_by_placement;
    return;
  }
  series.change = Change::inconclusive;
  if (!series.differs_by_placement.empty()) {
    series.why = series.differs_by_placement;
    series.reason = Reason::placement;
    return;
  }
  const auto bound = std::max(least_that_matters, series.floor);
  if (is_all_within(series.ratio, bound) && is_within(change, least_that_matters)) {
    series.change = Change::unchanged;
    return;
  }
  say_why(series, alpha, tests);
}

bool is_tested(const Row& row) { return row.series.base && row.series.now; }
bool of_duets(const Row& row) { return row.series.method == Method::duets; }

// Of so many tests.
bool is_out_of_reach(const Row& row, std::size_t tests, int planned_duets, double alpha) {
  const auto duets = std::max(row.duets.logs.size(), static_cast<std::size_t>(planned_duets));
  const auto smallest = of_duets(row) ? smallest_signed_rank_p(duets) : row.series.smallest_p;
  return smallest * static_cast<double>(tests) > alpha;
}

int launches_of(const Row& row) {
  return row.duets.launches.empty() ? 0 : row.duets.launches.back() + 1;
}

// It changed; or its interval leaves no room for more than twice the floor; or it is unchanged, and
// nothing speaks for a smaller change.
bool is_decided(const SeriesChange& series, const Look& look, double floor) {
  if (series.change == Change::regressed || series.change == Change::improved) return true;
  if (series.change != Change::unchanged || !series.ratio.interval) return false;
  return is_all_within(series.ratio, 2 * floor) || series.p_alone > look.unpromising;
}

// Of all rows of the family, those that are not tested at this look with 1.
std::vector<double> corrected_p(const std::vector<Row*>& family, bool at_the_end) {
  std::vector<double> p;
  for (const auto* row : family) p.push_back(of_duets(*row) || at_the_end ? row->series.p : 1);
  return holm(p);
}

}  // namespace

bool is_within(double factor, double floor) {
  return std::abs(std::log(factor)) <= std::log1p(floor);
}

std::size_t judge(std::vector<Row>& rows, const std::vector<Look>& looks, const Demands& demands,
                  int planned_duets) {
  std::vector<Row*> tested;
  for (auto& row : rows) {
    if (is_tested(row)) tested.push_back(&row);
  }
  const auto tests = tested.size();
  // How many launches there are says nothing of what they measured: so it may say who is tested.
  const auto middle = std::ranges::stable_partition(tested, [&](const Row* row) {
    return !row->series.pair || !is_out_of_reach(*row, tests, planned_duets, demands.alpha);
  });
  const std::vector<Row*> family(tested.begin(), middle.begin());
  for (const auto& look : looks) {
    const bool last = &look == &looks.back();
    for (auto* row : tested) {
      if (!of_duets(*row)) continue;
      row->settled = row->settled || (look.beyond && launches_of(*row) < look.after);
      if (!row->settled) take_first_duets(*row, look, demands);
    }
    auto corrected = corrected_p(family, last);
    corrected.resize(tests, 1);
    for (std::size_t at = 0; at < tests; ++at) {
      auto& row = *tested[at];
      if (row.settled || (!last && !of_duets(row))) continue;
      row.series.corrected = corrected[at];
      decide(row.series, demands.alpha, at < family.size() ? family.size() : tests);
      row.series.decided = of_duets(row) && is_decided(row.series, look, demands.floor);
      row.settled = row.series.decided || launches_of(row) <= look.after;
    }
  }
  return family.size();
}

}  // namespace ucxbench
