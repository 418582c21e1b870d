#include "harness/report/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/report/interval_text.hpp"

namespace ucxbench {
namespace {

/// Parameters that a title or the first words of the details show: all others but axes are details.
const std::set<std::string> shown_apart = {"api",     "endpoints",  "memory", "ranks",
                                           "threads", "transports", "workers"};

constexpr std::size_t most_named_cpus = 16;  ///< of so many ranks
constexpr std::size_t most_pairs = 16;       ///< rows; the rest is in the run file

/// "progress mode poll", "time per launch 300 ms", "bidirectional".
std::string in_words(const std::string& name, const Json& value) {
  const bool time = name.ends_with("_ns") && value.is_number();
  auto words = time ? name.substr(0, name.size() - 3) : name;
  std::replace(words.begin(), words.end(), '_', ' ');
  if (value == true) return words;
  return words + " " + (time ? readable_us(value.get<double>() / 1e3) : join(texts_of(value), "+"));
}

template <typename Value>
void add_unique(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

using RankPair = std::pair<int, int>;

std::set<RankPair> rank_pairs(const Block& block) {
  std::set<RankPair> pairs;
  for (const auto* of : block.measured) {
    for (const auto& record : of->launches) pairs.emplace(record.src, record.dst);
  }
  return pairs;
}

std::string arrow(const RankPair& pair) { return fmt::format("{}->{}", pair.first, pair.second); }

std::string cpus_of(const Json& ranks) {
  std::vector<std::string> cpus;
  for (const auto& rank : ranks) {
    if (!rank.is_object() || !rank.contains("cpus")) continue;
    const auto& of = rank.at("cpus");
    const bool numbers =
        of.is_array() && !of.empty() &&
        std::all_of(of.begin(), of.end(), [](const Json& cpu) { return cpu.is_number_integer(); });
    cpus.push_back(numbers ? format_list(of.get<std::vector<int>>()) : text_at(rank, "/cpus"));
  }
  if (cpus.empty()) return "";
  const bool same = std::ranges::all_of(cpus, [&](const auto& of) { return of == cpus[0]; });
  if (same && cpus[0] == "-") return "CPUs not bound";
  if (cpus.size() <= most_named_cpus) return "CPUs " + join(cpus, ", ");
  if (same) return "CPUs " + cpus[0] + " each";
  const auto more = cpus.size() - most_named_cpus;
  cpus.resize(most_named_cpus);
  return fmt::format("CPUs {} and those of {} more ranks", join(cpus, ", "), more);
}

const Metric* metric_of(const Case& of, const std::string& name) {
  const auto found = of.metrics.find(name);
  return found == of.metrics.end() ? nullptr : &found->second;
}

/// Of the medians in a block's tables: what is odd about their intervals.
std::string about_intervals(std::size_t launches) {
  if (launches < 2) return " (no interval)";
  if (launches < least_for_ci95 || launches >= least_for_inner_ci95) return "";
  return " (95% CI: their range)";
}

/// One column of a table: where its text comes from, and whether its intervals follow.
struct Source {
  Grid::Column column;
  std::string metric;
  std::string (*text)(const Metric&);
  bool median = false;
};

template <std::optional<double> Quantiles::* field, int digits>
std::string quantile(const Metric& metric) {
  return significant(metric.quantiles.*field, digits);
}

std::vector<Source> sources(const Block& block) {
  const auto pairs = rank_pairs(block);
  const auto direction = pairs.size() == 1 ? arrow(*pairs.begin()) : "one way";
  const auto time = latency_in_words(*block.cases.front()) + ", us";
  const std::string rate = "GB/s received";
  std::vector<Source> all = {
      {{time, "p50"}, "latency_us", quantile<&Quantiles::p50, 4>, true},
      {{time, "p90"}, "latency_us", quantile<&Quantiles::p90, 3>},
      {{time, "p99"}, "latency_us", quantile<&Quantiles::p99, 3>},
      {{time, "p99.9"}, "latency_us", quantile<&Quantiles::p999, 3>},
      {{time, "min"}, "latency_us", quantile<&Quantiles::min, 3>},
      {{time, "max"}, "latency_us", quantile<&Quantiles::max, 3>},
      {{rate, direction}, "bandwidth_GBps", quantile<&Quantiles::p50, 4>, true},
      {{rate, "both ways"}, "bandwidth_bidirectional_GBps", quantile<&Quantiles::p50, 4>, true},
      {{"msg/s", "p50"},
       "message_rate_per_s",
       [](const Metric& metric) { return prefixed(metric.quantiles.p50, 3); },
       true},
  };
  for (const auto& metric : block.cases.front()->shows.metrics) {
    const bool there = std::ranges::find(all, metric.name, &Source::metric) != all.end();
    if (there || metric.shown == Shown::kept) continue;
    const auto group = metric.title + ", " + metric.unit;
    all.push_back({{group, "p50"}, metric.name, quantile<&Quantiles::p50, 4>, true});
    if (metric.better == "lower") {
      all.push_back({{group, "p99"}, metric.name, quantile<&Quantiles::p99, 3>});
    }
  }
  return all;
}

/// The first ranks of the run, as many as the block's cases had: others may have had more.
Json ranks_of_block(const Block& block, const Result& result) {
  std::int64_t most = 0;
  for (const auto* of : block.cases) {
    const auto found = of->parameters.find("ranks");
    if (found == of->parameters.end() || !found->is_number_integer()) return result.ranks;
    most = std::max(most, found->get<std::int64_t>());
  }
  Json ranks = Json::array();
  for (const auto& rank : result.ranks) {
    if (std::ssize(ranks) < most) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::string latency_in_words(const Case& of) {
  const auto title = shown_metric(of, "latency_us").title;
  return title == "latency" ? "latency one way" : title;
}

void add_axes(Grid& grid, const Block& block) {
  std::vector<Grid::Column> columns;
  for (const auto& axis : block.cases.front()->shows.axes) columns.push_back({"", axis.label});
  if (columns.empty()) columns.push_back({"", "size"});
  grid.columns.insert(grid.columns.begin(), columns.begin(), columns.end());
}

std::vector<std::string> axis_cells(const Case& of) {
  std::vector<std::string> cells;
  for (const auto& axis : of.shows.axes) {
    // A count or a plain number stands below its label.
    cells.push_back(axis.value.is_number() && axis.unit.empty() ? text_at(axis.value, "")
                                                                : axis.text);
  }
  if (cells.empty()) cells.emplace_back("-");
  return cells;
}

namespace {

// Whether put, get or atomic operations needed the CPU of their target; empty where nobody looked.
std::string help_of_target(const Block& block) {
  std::size_t needed = 0;
  std::size_t known = 0;
  for (const auto* of : block.measured) {
    const auto says = [&](const char* words) {
      return std::ranges::any_of(of->launches, [&](const LaunchRecord& record) {
        return text_at(record.path, "/target_progress") == words;
      });
    };
    const bool once = says("needed");
    needed += once ? 1 : 0;
    known += once || says("not needed") ? 1 : 0;
  }
  if (known == 0) return "";
  if (needed == 0) return "target's CPU not needed";
  return "target's CPU needed" +
         (needed == known ? "" : fmt::format(" at {} of {} sizes", needed, known));
}

}  // namespace

std::string details_of(const Block& block, const Result& result) {
  if (block.measured.empty()) return "";
  std::vector<std::string> parts;
  const auto pairs = rank_pairs(block);
  const auto& first = *block.cases.front();
  const bool of_pairs = block.kind() == ViewKind::curve || block.kind() == ViewKind::first_messages;
  const auto ranks = pairs.size() > 1 && of_pairs
                         ? ", medians over " + counted(pairs.size(), "pair") +
                               (first.shows.at_once == Concurrent::one ? " in turn" : " at once")
                         : "";
  const auto those = ranks_of_block(block, result);
  if (!those.empty()) parts.push_back(counted(those.size(), "rank") + ranks);
  if (const auto cpus = cpus_of(those); !cpus.empty()) parts.push_back(cpus);
  std::vector<std::string> lanes;
  std::set<int> launches;
  for (const auto* of : block.measured) {
    for (const auto& record : of->launches) {
      launches.insert(record.launch);
      for (const auto& lane : record.lanes) add_unique(lanes, on_one_line(lane));
    }
  }
  if (!lanes.empty()) parts.push_back("lanes " + join(lanes, ", "));
  if (const auto help = help_of_target(block); !help.empty()) parts.push_back(help);
  parts.push_back(counted(launches.size(), "launch", "launches") +
                  about_intervals(launches.size()));
  std::vector<std::string> others;
  for (const auto& [name, value] : first.parameters.items()) {
    if (shown_apart.contains(name) || value.is_null() || value == false || value == Json("")) {
      continue;
    }
    if (axis_of(first, name) == nullptr) others.push_back(in_words(name, value));
  }
  if (!others.empty()) parts.push_back(join(others, ", "));
  return join(parts, "; ");
}

Grid metrics_of(const Block& block) {
  Grid grid;
  add_axes(grid, block);
  for (const auto* of : block.measured) grid.rows.push_back(axis_cells(*of));
  for (const auto& source : sources(block)) {
    const auto has = [&](const Case* of) { return metric_of(*of, source.metric) != nullptr; };
    if (std::ranges::none_of(block.measured, has)) continue;
    grid.columns.push_back(source.column);
    std::vector<std::optional<Interval>> intervals;
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      const auto* metric = metric_of(*block.measured[row], source.metric);
      grid.rows[row].push_back(metric ? source.text(*metric) : "-");
      intervals.push_back(interval_of(*block.measured[row], source.metric));
    }
    if (!source.median) continue;
    if (source.metric.ends_with("_per_s")) {
      add_prefixed_intervals(grid, source.column.group, intervals);
    } else {
      add_intervals(grid, source.column.group, intervals);
    }
  }
  return grid;
}

Grid pairs_of(const Block& block) {
  if (rank_pairs(block).size() < 2) return {};
  const auto& small = *block.measured.front();
  const auto& large = *block.measured.back();
  Grid grid{.columns = {{"", "pair"}}, .rows = {}};
  std::vector<const Json*> at_small;
  std::vector<const Json*> at_large;
  static const Json none = Json::object();
  for (const auto& pair : small.pairs) {
    if (at_small.size() == most_pairs) break;
    const auto same = std::find_if(large.pairs.begin(), large.pairs.end(), [&](const Json& other) {
      return other.value("src", -1) == pair.value("src", -1) &&
             other.value("dst", -1) == pair.value("dst", -1);
    });
    at_small.push_back(&pair);
    at_large.push_back(same == large.pairs.end() ? &none : &*same);
    grid.rows.push_back({arrow({pair.value("src", -1), pair.value("dst", -1)})});
  }
  const auto add = [&](const Case& of, const std::vector<const Json*>& pairs, const char* column,
                       const char* field, bool median) {
    const auto group = size_of(of);
    grid.columns.push_back({group, column});
    std::vector<std::optional<Interval>> intervals;
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      grid.rows[row].push_back(significant(number_at(*pairs[row], field), 4));
      intervals.push_back(interval_at(*pairs[row], field));
    }
    if (median) add_intervals(grid, group, intervals);
  };
  add(small, at_small, "p50, us", "latency_p50_us", true);
  add(large, at_large, "p25", "p25_GBps", false);
  add(large, at_large, "p50, GB/s", "p50_GBps", true);
  add(large, at_large, "p75", "p75_GBps", false);
  return grid;
}

std::vector<NotMeasured> not_measured(const Block& block) {
  std::vector<std::pair<NotMeasured, std::vector<const Case*>>> groups;
  for (const auto* of : block.cases) {
    if (of->state == CaseState::measured) continue;
    const auto reason = of->reason.empty() ? "no reason recorded" : on_one_line(of->reason);
    const bool failed = of->state == CaseState::failed;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first.failed == failed && group.first.line == reason;
    });
    if (same == groups.end()) {
      groups.push_back({{.failed = failed, .line = reason}, {of}});
    } else {
      same->second.push_back(of);
    }
  }
  std::vector<NotMeasured> lines;
  for (const auto& [group, cases] : groups) {
    auto sizes = size_of(*cases.front());
    const auto last = size_of(*cases.back());
    if (last != sizes) sizes += " to " + last;
    if (cases.size() > 1) sizes += fmt::format(" ({} cases)", cases.size());
    lines.push_back(
        {.failed = group.failed,
         .line = fmt::format("{} {}: {}", group.failed ? "failed" : "skipped", sizes, group.line)});
  }
  return lines;
}

}  // namespace ucxbench
