#include "harness/report/matrix_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/core/statistics.hpp"
#include "harness/report/interval_text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_columns = 16;
constexpr std::size_t most_slow = 10;
constexpr double slow = 0.8;         ///< of the median of all pairs
constexpr double least_told = 0.05;  ///< of the faster direction; less is noise

struct Rate {
  int src = 0, dst = 0;
  std::optional<double> p25, p50, p75;
  std::optional<Interval> of_p50;
};

// Those with a rate, 0 where nothing arrived, by source and destination.
std::vector<Rate> rates_of(const Case& of, const char* field = "p50_GBps") {
  std::vector<Rate> rates;
  for (const auto& pair : of.pairs) {
    const auto src = number_at(pair, "src");
    const auto dst = number_at(pair, "dst");
    const auto p50 = number_at(pair, field);
    if (!src || !dst || !p50 || !(*p50 >= 0) || std::abs(*src) > 1e6 || std::abs(*dst) > 1e6)
      continue;
    rates.push_back({static_cast<int>(*src), static_cast<int>(*dst), number_at(pair, "p25_GBps"),
                     p50, number_at(pair, "p75_GBps"), interval_at(pair, field)});
  }
  return rates;
}

std::vector<double> medians_of(const std::vector<Rate>& rates) {
  std::vector<double> values;
  for (const auto& rate : rates) values.push_back(*rate.p50);
  std::sort(values.begin(), values.end());
  return values;
}

/// The rate's ends: over launches, or of one launch those of the streams between their quartiles.
double lower_end(const Rate& rate) {
  return rate.of_p50 ? rate.of_p50->low : rate.p25.value_or(*rate.p50);
}
double upper_end(const Rate& rate) {
  return rate.of_p50 ? rate.of_p50->high : rate.p75.value_or(*rate.p50);
}

/// Behind a rate that is below `limit`, and where it may as well not be.
const char* mark_of(const Rate& rate, double limit) {
  if (*rate.p50 >= limit) return "";
  return upper_end(rate) < limit ? "!" : unknown_cell;
}

std::string percent_of(const std::optional<double>& rate, const std::optional<double>& limit) {
  return rate && limit && *limit > 0 ? share_text(*rate / *limit) : "?";
}

// What the interval beside it is of, and what `compare` compares: the median over launches. The
// other quantiles are over pairs, each pair's over all launches.
std::optional<double> median_rate(const Case& of) { return p50_of(of, "bandwidth_GBps"); }

std::optional<double> messages_per_s(const Case& of) {
  const auto bytes = bytes_of(of);
  const auto rate = median_rate(of);
  if (!rate || !bytes) return std::nullopt;
  return *rate * 1e9 / static_cast<double>(*bytes);
}

}  // namespace

std::string matrix_title(const Case& of) {
  return row_of(of) + (of.shows.at_once == Concurrent::all ? " at once" : " at a time");
}

Grid matrix_rates_of(const Block& block) {
  const std::string group = "GB/s received per pair";
  Grid grid{
      .columns = {{group, "min"}, {group, "p25"}, {group, "p50"}, {group, "p75"}, {group, "max"}},
      .rows = {}};
  add_axes(grid, block);
  std::vector<std::optional<Interval>> per_pair;
  std::vector<std::optional<Interval>> together;
  for (const auto* of : block.measured) {
    const auto values = medians_of(rates_of(*of));
    grid.rows.push_back(axis_cells(*of));
    for (const auto q : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      std::optional<double> rate;
      if (q == 0.5) {
        rate = median_rate(*of);
      } else if (!values.empty()) {
        rate = quantile_of_sorted(values, q);
      }
      grid.rows.back().push_back(significant(rate, 4));
    }
    per_pair.push_back(interval_of(*of, "bandwidth_GBps"));
    together.push_back(interval_of(*of, "together_GBps"));
  }
  add_intervals(grid, "p50 over launches", per_pair);
  grid.columns.push_back({"msg/s", "p50"});
  std::vector<std::optional<Interval>> messages;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    const auto& of = *block.measured[row];
    grid.rows[row].push_back(prefixed(messages_per_s(of), 3));
    const auto bytes = static_cast<double>(bytes_of(of).value_or(0));
    messages.push_back(bytes > 0 ? scaled(per_pair[row], 1e9 / bytes) : std::nullopt);
  }
  add_prefixed_intervals(grid, "msg/s", messages);
  grid.columns.push_back({"all together", "p50"});
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    grid.rows[row].push_back(significant(p50_of(*block.measured[row], "together_GBps"), 4));
  }
  add_intervals(grid, "all together", together);
  return grid;
}

Grid matrix_of(const Case& of, const char* field) {
  const auto rates = rates_of(of, field);
  if (rates.empty()) return {};
  std::map<int, std::size_t> places;
  for (const auto& rate : rates) {
    places.emplace(rate.src, 0);
    places.emplace(rate.dst, 0);
  }
  if (places.size() > most_columns) return {};
  Grid grid{.columns = {{"", "src\\dst"}}, .rows = {}};
  for (auto& [rank, place] : places) {
    place = grid.rows.size();
    grid.columns.push_back({"", std::to_string(rank)});
    grid.rows.push_back({std::to_string(rank)});
  }
  for (auto& row : grid.rows) row.resize(grid.columns.size(), "-");
  const auto all = median(medians_of(rates));
  for (const auto& rate : rates) {
    grid.rows[places.at(rate.src)][places.at(rate.dst) + 1] =
        significant(rate.p50, 3) + mark_of(rate, slow * all);
  }
  return grid;
}

Grid slowest_of(const Case& of) {
  auto rates = rates_of(of);
  const auto without = pairs_without_figure(of);
  if (rates.size() + without.size() <= most_slow) return {};
  const auto all = rates.empty() ? std::optional<double>() : median(medians_of(rates));
  std::stable_sort(rates.begin(), rates.end(),
                   [](const Rate& a, const Rate& b) { return *a.p50 < *b.p50; });
  rates.resize(std::min(most_slow - std::min(most_slow, without.size()),
                        rates.size() / 3));  // the others are in the matrix
  Grid grid{.columns = {{"", "pair"}, {"GB/s", "p25"}, {"GB/s", "p50"}, {"GB/s", "p75"}},
            .rows = {}};
  std::vector<std::optional<Interval>> intervals;
  for (const auto& [src, dst] : without) {
    if (intervals.size() == most_slow) break;
    grid.rows.push_back({fmt::format("{}->{}", src, dst), no_cell, no_cell, no_cell});
    intervals.emplace_back();
  }
  for (const auto& rate : rates) {
    grid.rows.push_back({fmt::format("{}->{}", rate.src, rate.dst), significant(rate.p25, 3),
                         significant(rate.p50, 3), significant(rate.p75, 3)});
    intervals.push_back(rate.of_p50);
  }
  add_intervals(grid, "p50 over launches", intervals, 3);
  grid.columns.push_back({"", "of the median pair"});
  const auto first = grid.rows.size() - rates.size();
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    grid.rows[row].push_back(row < first ? no_cell : percent_of(rates[row - first].p50, all));
  }
  return grid;
}

Grid against_limits(const Case& of) {
  const auto some_have = [&](const char* field) {
    return std::ranges::any_of(
        of.limits, [field](const Json& row) { return number_at(row, field).has_value(); });
  };
  // The fields of a row that the median of its pairs is held against.
  std::vector<std::pair<const char*, const char*>> against = {{"GBps", "used path"}};
  if (some_have("expected_GBps")) against.emplace_back("expected_GBps", "best path");
  if (some_have("share_GBps")) against.emplace_back("share_GBps", "fair share");
  Grid grid{.columns =
                {{"", "class"}, {"", "path used"}, {"", "pairs"}, {"GB/s", "min"}, {"GB/s", "p50"}},
            .rows = {}};
  for (const auto& [field, name] : against) grid.columns.push_back({"peak, GB/s", name});
  for (const auto& [field, name] : against) grid.columns.push_back({"p50, % of peak", name});
  grid.columns.push_back({"", limited_by});
  for (const auto& limit : of.limits) {
    const auto p50 = number_at(limit, "p50_GBps");
    const auto interval = interval_at(limit, "p50_GBps");
    std::vector<std::string> row = {
        text_at(limit, "/class"), carrier_of_member(text_at(limit, "/path", "?")),
        text_at(limit, "/pairs"), significant(number_at(limit, "min_GBps"), 3),
        significant(p50, 3) + interval_behind(interval)};
    for (const auto& [field, name] : against) {
      const auto rate = number_at(limit, field);
      const bool at_most = field == against.front().first && text_at(limit, "/complete") != "yes";
      row.push_back(rate ? (at_most ? "<= " : "") + significant(rate, 4) : "?");
    }
    const bool calibrated = text_at(limit, "/source") == "calibrated";
    for (const auto& [field, name] : against) {
      const auto reached = number_at(limit, field);
      const auto surely = interval ? std::optional(interval->low) : p50;
      const bool above = calibrated && field == against.front().first && surely > reached;
      const bool known = p50 && reached && *reached > 0;
      row.push_back(percent_of(p50, reached) +
                    (known ? percent_behind(scaled(interval, 1 / *reached)) : "") +
                    (reached && above ? " (above)" : ""));
    }
    row.push_back((calibrated ? "calibrated: " : "") + text_at(limit, "/detail", "?"));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string widest_interval(const Case& of, const char* field) {
  double widest = 0;
  std::vector<std::optional<Interval>> all;
  for (const auto& rate : rates_of(of, field)) {
    all.push_back(rate.of_p50);
    if (all.back() && *rate.p50 > 0)
      widest = std::max(widest, (all.back()->high - all.back()->low) / *rate.p50);
  }
  const auto known =
      std::ranges::any_of(all, [](const auto& interval) { return interval.has_value(); });
  return known ? fmt::format(", {} at most {} wide", interval_head(all), share_text(widest)) : "";
}

std::string asymmetry_of(const Case& of) {
  std::map<std::pair<int, int>, Rate> by_pair;
  for (const auto& rate : rates_of(of)) by_pair[{rate.src, rate.dst}] = rate;
  double worst = 0;
  std::string where;
  for (const auto& [pair, rate] : by_pair) {
    const auto back = by_pair.find({pair.second, pair.first});
    if (back == by_pair.end() || upper_end(rate) >= lower_end(back->second)) continue;
    const auto apart = 1 - *rate.p50 / *back->second.p50;
    if (apart <= worst) continue;
    worst = apart;
    where =
        fmt::format("{}->{} {}{}, {}->{} {}{} GB/s", pair.first, pair.second,
                    significant(rate.p50, 3), interval_behind(rate.of_p50), pair.second, pair.first,
                    significant(back->second.p50, 3), interval_behind(back->second.of_p50));
  }
  if (worst < least_told) return "";
  return fmt::format("at most {:.0f} % apart: {} ({})", 100 * worst, where, matrix_title(of));
}

}  // namespace ucxbench
