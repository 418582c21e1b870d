#include "harness/analysis/comparison/weigh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/resolution.hpp"
#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"

namespace ucxbench {
namespace {

double relative_error_of_median(const std::vector<double>& values) {
  return error_of_median(values) / median(values);
}

// Each placement with the interval of its own change; the two that are furthest apart.
std::string differing_placements(const std::vector<Stratum>& strata, double alpha, double floor) {
  struct Own {
    const Stratum* of;
    Ratio ratio;
  };
  std::vector<Own> known;
  for (const auto& of : strata) {
    auto ratio = ratio_of({&of, 1}, 1 - alpha / static_cast<double>(strata.size()));
    if (ratio.interval) known.push_back({&of, ratio});
  }
  if (known.size() < 2) return "";
  const auto low =
      std::ranges::min(known, {}, [](const Own& own) { return (*own.ratio.interval)[1]; });
  const auto high =
      std::ranges::max(known, {}, [](const Own& own) { return (*own.ratio.interval)[0]; });
  if ((*high.ratio.interval)[0] <= (*low.ratio.interval)[1] * (1 + floor)) return "";
  const auto words = [](const Own& own) {
    return fmt::format("{:+.1f} % ({:.4g} -> {:.4g})", 100 * (own.ratio.estimate - 1),
                       median(own.of->base), median(own.of->now));
  };
  return fmt::format("depends on the placement, {} in one and {} in another: compare each alone",
                     words(low), words(high));
}

/// Launches that have the metric, and those of them in which it is 0.
struct Zeros {
  std::size_t zeros = 0, launches = 0;

  explicit Zeros(const Metric& metric)
      : zeros(static_cast<std::size_t>(std::ranges::count(metric.launch_medians, 0.0))),
        launches(metric.launch_medians.size()) {}
  bool all() const { return launches > 0 && zeros == launches; }
};

/// A launch with a rate of 0 has failed, and a case fails with one of its launches. A time of 0 is
/// below what the clock tells apart: that leaves a comparison without a figure, unless the new run
/// has nothing else.
void say_zeros(SeriesChange& series, const Zeros& base, const Zeros& now) {
  const bool is_rate = series.better == "higher";
  const bool failed = now.zeros > 0 && !base.all() && (is_rate || now.all());
  const bool of_new = failed || (now.zeros > 0 && base.zeros == 0);
  const auto& of = of_new ? now : base;
  if (failed) series.change = Change::failed;
  series.reason = Reason::zero;
  series.base_is_flawed = now.zeros == 0;
  series.why = fmt::format(
      "a {} of 0 in {} of the {} run: nothing can be held against it", is_rate ? "rate" : "time",
      of.all() ? "each launch" : fmt::format("{} of {} launches", of.zeros, of.launches),
      of_new ? "new" : "base");
}

// A ratio of two units is none.
void say_units(SeriesChange& series, const std::string& base, const std::string& now) {
  series.reason = Reason::unit;
  series.why = fmt::format("the unit changed, from {} in the base run to {} in the new run",
                           base.empty() ? "none" : base, now.empty() ? "none" : now);
}

void weigh_launches(Row& row, const TwoRuns& runs, const Case& base, const Case& now,
                    const Demands& demands) {
  auto& series = row.series;
  const auto& metric = series.metric;
  row.matched = runs.placements.matched(base, now, metric);
  const auto& found = row.matched;
  series.base_launches = found.base.size();
  series.new_launches = found.now.size();
  if (found.strata.empty()) {
    series.why = found.why_not;
    const bool any = !usable_medians(base.metrics.at(metric)).empty() &&
                     !usable_medians(now.metrics.at(metric)).empty();
    series.reason = any ? Reason::placement : Reason::launches;
    return;
  }
  series.base = median(usable_medians(base.metrics.at(metric)));
  series.now = median(usable_medians(now.metrics.at(metric)));
  series.matched_base = median(found.base);
  series.matched_now = median(found.now);
  const auto step = std::max(step_of(runs.base, base, metric), step_of(runs.now, now, metric));
  series.resolution = a_little_more * step / std::min(*series.matched_base, *series.matched_now);
  series.ratio = ratio_of(found.strata, 1 - demands.alpha);
  // Either median is anywhere within half a step of what it shows.
  if (auto& interval = series.ratio.interval) {
    (*interval)[0] /= 1 + series.resolution;
    (*interval)[1] *= 1 + series.resolution;
  }
  series.differs_by_placement = differing_placements(
      found.strata, demands.alpha, std::max(demands.floor, 2 * series.resolution));
  series.p = rank_sum_p(found.strata);
  series.smallest_p = smallest_p(found.strata);
  series.floor = std::max(
      {demands.floor, series.resolution,
       2 * std::hypot(relative_error_of_median(found.base), relative_error_of_median(found.now))});
}

std::size_t launches_of(const Case& of) {
  std::set<int> launches;
  for (const auto& record : of.launches) launches.insert(record.launch);
  return launches.size();
}

// As each case says, else as ab does for all.
std::string why_in_turns(const TwoRuns& runs, const Case& base, const Case& now) {
  for (const auto* of : {&base, &now}) {
    if (!of->in_turns.empty()) return of->in_turns;
  }
  const Json::json_pointer place("/ab/in_turns");
  for (const auto* run : {&runs.base.run, &runs.now.run}) {
    if (run->contains(place)) return run->at(place).get<std::string>();
  }
  return "";
}

}  // namespace

Row weigh(const std::string& metric, const TwoRuns& runs, const Case& base, const Case& now,
          const Demands& demands) {
  Row row{
      .series = {.key = base.key, .metric = metric, .better = shown_metric(base, metric).better},
      .duets = {}};
  auto& series = row.series;
  series.launches_run = std::max(launches_of(base), launches_of(now));
  if (is_time_sliced(base) || is_time_sliced(now)) {
    series.reason = Reason::time_sliced;
    series.why =
        "not judged: time-sliced, ranks take turns on one GPU; use one GPU for each rank, or CUDA "
        "MPS";
    return row;
  }
  const auto unit_of_base = shown_metric(base, metric).unit;
  const auto unit_of_new = shown_metric(now, metric).unit;
  if (unit_of_base != unit_of_new) {
    say_units(series, unit_of_base, unit_of_new);
    return row;
  }
  const Zeros zeros_of_base(base.metrics.at(metric));
  const Zeros zeros_of_new(now.metrics.at(metric));
  if (zeros_of_base.zeros > 0 || zeros_of_new.zeros > 0) {
    say_zeros(series, zeros_of_base, zeros_of_new);
    return row;
  }
  row.duets = duets_of(base, now, metric);
  if (row.duets.logs.empty()) {
    series.in_turns = why_in_turns(runs, base, now);
    weigh_launches(row, runs, base, now, demands);
    return row;
  }
  series.method = Method::duets;
  series.p_of_all = signed_rank_p(row.duets.logs);
  series.base = median(usable_medians(base.metrics.at(metric)));
  series.now = median(usable_medians(now.metrics.at(metric)));
  // A duet's value is of blocks of milliseconds, far above any clock's step.
  series.floor = demands.floor;
  return row;
}

void take_first_duets(Row& row, const Look& look, const Demands& demands) {
  const auto duets = first_duets(row.duets, look.after);
  if (duets.logs.empty()) return;
  auto& series = row.series;
  series.base_launches = series.new_launches = duets.logs.size();
  series.matched_base = median(duets.base);
  series.matched_now = median(duets.now);
  series.ratio = signed_rank_ratio(duets.logs, 1 - demands.alpha * look.share);
  series.p_alone = signed_rank_p(duets.logs);
  series.p = std::min(series.p, series.p_alone / look.share);
  series.smallest_p = std::min(1.0, smallest_signed_rank_p(duets.logs.size()) / look.share);
}

}  // namespace ucxbench
