#include "harness/analysis/comparison/tails.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "harness/analysis/comparison/judge.hpp"
#include "harness/analysis/comparison/shapes.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

// Of each launch the median over its pairs; empty where a launch has too few samples for one.
std::vector<double> p99_of_launches(const Case& of, const std::string& metric) {
  std::map<int, std::vector<double>> launches;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end()) continue;
    const auto p99 = samples->second.quantiles.p99.value_or(0);
    if (!(p99 > 0)) return {};
    launches[record.launch].push_back(p99);
  }
  std::vector<double> found;
  for (auto& [launch, of_pairs] : launches) found.push_back(median(std::move(of_pairs)));
  return found;
}

// Of times of whole cases that were judged by their launches.
Stratum tails_of(const SeriesChange& series, const TwoRuns& runs) {
  const auto* base = find_case(runs.base, series.key);
  const auto* now = find_case(runs.now, series.key);
  const bool judged = series.base && series.now && series.method == Method::launches;
  if (!judged || series.pair || series.better != "lower" || base == nullptr || now == nullptr) {
    return {};
  }
  return {p99_of_launches(*base, series.metric), p99_of_launches(*now, series.metric)};
}

bool is_verdict_of(Change change, double ratio) {
  return change == (ratio > 1 ? Change::regressed : Change::improved);
}

}  // namespace

void look_at_tails(std::vector<Row>& rows, const TwoRuns& runs, double alpha) {
  std::vector<std::pair<Row*, Stratum>> tails;
  std::vector<double> p;
  for (auto& row : rows) {
    auto tail = tails_of(row.series, runs);
    if (tail.base.empty() || tail.now.empty()) continue;
    p.push_back(rank_sum_p({&tail, 1}));
    tails.emplace_back(&row, std::move(tail));
  }
  const auto corrected = holm(p);
  for (std::size_t at = 0; at < tails.size(); ++at) {
    auto& series = tails[at].first->series;
    const auto& tail = tails[at].second;
    const auto ratio = ratio_of({&tail, 1}, 1 - alpha);
    if (corrected[at] >= alpha || !ratio.interval) continue;
    const auto nearest = (*ratio.interval)[ratio.estimate > 1 ? 0 : 1];
    const bool same_way = (nearest > 1) == (ratio.estimate > 1);
    if (!same_way || is_within(nearest, least_that_matters)) continue;
    if (is_verdict_of(series.change, ratio.estimate)) continue;
    add_remark(series,
               fmt::format("p99 moved, of which there is no verdict: {:.4g} -> {:.4g} ({:+.1f} %, "
                           "{:+.1f}..{:+.1f})",
                           median(tail.base), median(tail.now), 100 * (ratio.estimate - 1),
                           100 * ((*ratio.interval)[0] - 1), 100 * ((*ratio.interval)[1] - 1)));
  }
}

}  // namespace ucxbench
