#include "harness/result/interval.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

std::optional<Interval> interval_over(std::vector<double> of_launches) {
  std::erase_if(of_launches, [](double value) { return !std::isfinite(value); });
  if (of_launches.size() < 2) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(of_launches);
  const auto ci95 = median_ci95(std::move(of_launches));
  return ci95 ? Interval{(*ci95)[0], (*ci95)[1], Interval::Kind::ci95}
              : Interval{low, high, Interval::Kind::range};
}

std::optional<Interval> interval_of(const Metric& metric) {
  if (metric.ci95) return Interval{(*metric.ci95)[0], (*metric.ci95)[1], Interval::Kind::ci95};
  return interval_over(metric.launch_medians);
}

Json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low},
          {"high", interval->high},
          {"kind", name_of(interval_kinds, interval->kind)}};
}

std::optional<Interval> interval_at(const Json& summary, const char* name) {
  const auto all = summary.find("intervals");
  if (all == summary.end() || !all->is_object() || !all->contains(name)) return std::nullopt;
  const auto& of = all->at(name);
  if (!of.is_object()) return std::nullopt;
  const auto low = number_at(of, "low");
  const auto high = number_at(of, "high");
  const auto kind = value_of(interval_kinds, text_at(of, "/kind"));
  return low && high && kind ? std::optional(Interval{*low, *high, *kind}) : std::nullopt;
}

}  // namespace ucxbench
