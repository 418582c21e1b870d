#include "harness/result/interval.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

Interval::Kind kind_of_both(const Interval& a, const Interval& b) {
  return a.kind == b.kind ? a.kind : Interval::Kind::range;
}

std::string behind(const Interval& of, const std::string& low, const std::string& high) {
  return " (" + low + ".." + high + (of.kind == Interval::Kind::ci95 ? ")" : ", range)");
}

}  // namespace

std::optional<Interval> interval_over(std::vector<double> of_launches) {
  std::erase_if(of_launches, [](double value) { return !std::isfinite(value); });
  if (of_launches.size() < 2) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(of_launches);
  const auto ci95 = median_ci95(std::move(of_launches));
  return ci95 ? Interval{(*ci95)[0], (*ci95)[1], Interval::Kind::ci95}
              : Interval{low, high, Interval::Kind::range};
}

std::optional<Interval> interval_of(const Metric& metric) {
  if (!metric.ci95) return interval_over(metric.launch_medians);
  const auto [low, high] = *metric.ci95;
  const bool known = std::isfinite(low) && std::isfinite(high);
  return known ? std::optional(Interval{low, high, Interval::Kind::ci95}) : std::nullopt;
}

std::optional<Interval> interval_of(const Case& of, const std::string& metric) {
  const auto found = of.metrics.find(metric);
  return found == of.metrics.end() ? std::nullopt : interval_of(found->second);
}

std::optional<Interval> scaled(const std::optional<Interval>& interval, double times) {
  if (!interval) return std::nullopt;
  return Interval{interval->low * times, interval->high * times, interval->kind};
}

std::optional<Interval> sum(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  if (!a || !b) return std::nullopt;
  return Interval{a->low + b->low, a->high + b->high, kind_of_both(*a, *b)};
}

std::optional<Interval> difference(const std::optional<Interval>& a,
                                   const std::optional<Interval>& b) {
  if (!a || !b) return std::nullopt;
  return Interval{a->low - b->high, a->high - b->low, kind_of_both(*a, *b)};
}

std::optional<Interval> quotient(const std::optional<Interval>& a,
                                 const std::optional<Interval>& b) {
  if (!a || !b || !(b->low > 0)) return std::nullopt;
  return Interval{a->low / (a->low < 0 ? b->low : b->high),
                  a->high / (a->high < 0 ? b->high : b->low), kind_of_both(*a, *b)};
}

std::optional<Interval> inverse(const std::optional<Interval>& interval) {
  return quotient(Interval{1, 1, interval ? interval->kind : Interval::Kind::ci95}, interval);
}

std::optional<Interval> larger(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  if (!a || !b) return std::nullopt;
  return Interval{std::max(a->low, b->low), std::max(a->high, b->high), kind_of_both(*a, *b)};
}

std::string interval_behind(const std::optional<Interval>& of, int digits) {
  if (!of) return "";
  return behind(*of, significant(of->low, digits), significant(of->high, digits));
}

std::string time_interval_behind(const std::optional<Interval>& us) {
  return us ? behind(*us, readable_us(us->low), readable_us(us->high)) : "";
}

Json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low},
          {"high", interval->high},
          {"kind", name_of(interval_kinds, interval->kind)}};
}

std::optional<Interval> interval_from(const Json& json) {
  if (json.is_array() && json.size() == 2 && json[0].is_number() && json[1].is_number()) {
    return Interval{json[0].get<double>(), json[1].get<double>(), Interval::Kind::ci95};
  }
  if (!json.is_object()) return std::nullopt;
  const auto low = number_at(json, "low");
  const auto high = number_at(json, "high");
  const auto kind = value_of(interval_kinds, text_at(json, "/kind"));
  return low && high && kind ? std::optional(Interval{*low, *high, *kind}) : std::nullopt;
}

std::optional<Interval> interval_at(const Json& summary, const char* name) {
  const auto all = summary.find("intervals");
  if (all == summary.end() || !all->is_object() || !all->contains(name)) return std::nullopt;
  return interval_from(all->at(name));
}

}  // namespace ucxbench
