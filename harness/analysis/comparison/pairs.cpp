#include "harness/analysis/comparison/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

using Ranks = std::pair<int, int>;
using Hosts = std::map<int, std::string>;

/// What one run has of a case's pairs: of each its records, with this metric alone.
using Records = std::map<Ranks, std::vector<LaunchRecord>>;

LaunchRecord record_of_pair(const LaunchRecord& whole, const Ranks& pair) {
  LaunchRecord record;
  record.launch = whole.launch;
  std::tie(record.src, record.dst) = pair;
  record.processors = whole.processors;
  return record;
}

constexpr const char* rate_field = "p50_GBps";
constexpr const char* time_field = "delivery_p50_us";

Json pairs_in(const LaunchRecord& whole) { return whole.workload.value("pairs", Json::array()); }

// Of a workload: both sides of a duet took their iterations in turns, so that a launch is one.
void take_workload(const LaunchRecord& whole, const std::string& metric, Records& records) {
  for (const auto& of : pairs_in(whole)) {
    const auto value = number_at(of, metric == pair_rate ? rate_field : time_field);
    if (!value) continue;
    const Ranks pair{of.at("src").get<int>(), of.at("dst").get<int>()};
    auto& record = records[pair].emplace_back(record_of_pair(whole, pair));
    record.samples[metric].quantiles.p50 = value;
    if (!whole.duet) continue;
    record.duet = Duet{.id = whole.duet->id, .first = whole.duet->first};
    record.duet->blocks[metric] = {.quads = "A", .values = {*value, *value}};
  }
}

Records records_of(const Case& of, const std::string& metric) {
  Records records;
  for (const auto& whole : of.launches) {
    if (metric == pair_rate || metric == pair_time) take_workload(whole, metric, records);
    const auto samples = whole.samples.find(metric);
    if (samples == whole.samples.end() || !samples->second.quantiles.p50) continue;
    const Ranks pair{whole.src, whole.dst};
    auto& record = records[pair].emplace_back(record_of_pair(whole, pair));
    record.samples[metric].quantiles.p50 = samples->second.quantiles.p50;
    if (whole.duet && whole.duet->blocks.contains(metric)) {
      record.duet = Duet{.id = whole.duet->id, .first = whole.duet->first};
      record.duet->blocks[metric] = whole.duet->blocks.at(metric);
    }
  }
  return records;
}

/// A case as if it had been measured with these records alone.
Case case_of(const Case& whole, const std::string& metric, std::vector<LaunchRecord> records) {
  Case of{
      .key = whole.key, .shows = whole.shows, .in_turns = whole.in_turns, .labels = whole.labels};
  of.launches = std::move(records);
  std::map<int, std::vector<double>> launches;
  for (const auto& record : of.launches) {
    launches[record.launch].push_back(*record.samples.at(metric).quantiles.p50);
  }
  auto& medians = of.metrics[metric].launch_medians;
  for (auto& [launch, values] : launches) medians.push_back(median(std::move(values)));
  return of;
}

/// In each launch the pair that was the slowest.
std::vector<LaunchRecord> slowest_of(const std::vector<const std::vector<LaunchRecord>*>& pairs,
                                     const std::string& metric, bool more_is_better) {
  std::map<int, const LaunchRecord*> slowest;
  const auto value = [&](const LaunchRecord& of) { return *of.samples.at(metric).quantiles.p50; };
  for (const auto* records : pairs) {
    for (const auto& record : *records) {
      auto& known = slowest[record.launch];
      if (known == nullptr || (value(record) < value(*known)) == more_is_better) known = &record;
    }
  }
  std::vector<LaunchRecord> all;
  for (const auto& [launch, record] : slowest) all.push_back(*record);
  return all;
}

/// Which of these launches' pairs is there most often.
Ranks commonest_of(const std::vector<LaunchRecord>& records) {
  std::map<Ranks, int> counts;
  for (const auto& record : records) ++counts[{record.src, record.dst}];
  return std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; })->first;
}

std::string host_of(const Hosts& hosts, int rank) {
  const auto found = hosts.find(rank);
  return found == hosts.end() ? "" : found->second;
}

RowPair row_pair(const Hosts& hosts, const Ranks& pair) {
  const bool several = std::ranges::any_of(
      hosts, [&](const auto& of) { return of.second != hosts.begin()->second; });
  return {.src = pair.first,
          .dst = pair.second,
          .src_host = host_of(hosts, pair.first),
          .dst_host = host_of(hosts, pair.second),
          .several_hosts = several};
}

bool are_same(const SameRanks& same, const Records& of_base, const Records& of_now) {
  return of_base.size() == of_now.size() && std::ranges::all_of(of_base, [&](const auto& of) {
           const auto renamed = same.in_new(of.first);
           return renamed && of_now.contains(*renamed);
         });
}

/// One record of a launch speaks for all: of no pair, but for what it has of each.
bool is_of_all_ranks(const Case& of) {
  return std::ranges::any_of(of.launches,
                             [](const auto& record) { return !record.workload.empty(); });
}

/// Weighs pairs of one metric of a case.
class PairRows {
 public:
  PairRows(const std::string& metric, const TwoRuns& runs, const SameRanks& same, const Case& base,
           const Case& now, const Demands& demands)
      : metric_(metric),
        runs_(runs),
        same_(same),
        base_(base),
        now_(now),
        demands_(demands),
        base_hosts_(hosts_of_ranks(runs.base, base)),
        new_hosts_(hosts_of_ranks(runs.now, now)) {}

  std::vector<Row> rows() const {
    auto of_base = records_of(base_, metric_);
    auto of_now = records_of(now_, metric_);
    const bool several = std::max(of_base.size(), of_now.size()) > 1;
    if (!several && have_same_pairs(metric_, same_, base_, now_)) return {};
    const bool together = of_base.size() > most_pair_rows;
    std::map<std::pair<std::string, std::string>, std::vector<Both>> by_hosts;
    std::vector<Row> rows;
    for (auto& [pair, records] : of_base) {
      const auto renamed = same_.in_new(pair);
      const auto found = renamed ? of_now.find(*renamed) : of_now.end();
      if (found == of_now.end()) {
        auto missing = row_pair(base_hosts_, pair);
        missing.in_base = pair;
        rows.push_back({.series = row_of_one_run(std::move(missing), Change::missing)});
      } else if (together) {
        by_hosts[{host_of(new_hosts_, renamed->first), host_of(new_hosts_, renamed->second)}]
            .push_back({.base = pair, .now = *renamed});
      } else {
        rows.push_back(
            row_of(pair_of_both(*renamed), std::move(records), std::move(found->second)));
      }
    }
    for (const auto& [pair, records] : of_now) {
      const auto renamed = same_.in_base(pair);
      if (renamed && of_base.contains(*renamed)) continue;
      rows.push_back({.series = row_of_one_run(row_pair(new_hosts_, pair), Change::added)});
    }
    const bool more_is_better = shown_metric(base_, metric_).better == "higher";
    for (const auto& entry : by_hosts) {
      const auto& pairs = entry.second;
      const auto slowest = [&](const Records& all, Ranks Both::* of_run) {
        std::vector<const std::vector<LaunchRecord>*> records;
        for (const auto& pair : pairs) records.push_back(&all.at(pair.*of_run));
        return slowest_of(records, metric_, more_is_better);
      };
      auto records = slowest(of_now, &Both::now);
      auto pair = pair_of_both(commonest_of(records));
      pair.slowest_of = pairs.size();
      rows.push_back(row_of(pair, slowest(of_base, &Both::base), std::move(records)));
    }
    return rows;
  }

 private:
  struct Both {
    Ranks base, now;
  };

  RowPair pair_of_both(const Ranks& of_new) const {
    auto pair = row_pair(new_hosts_, of_new);
    pair.in_base = same_.in_base(of_new);
    return pair;
  }

  SeriesChange row_of_one_run(RowPair pair, Change change) const {
    pair.of_one_run = true;
    return {.key = base_.key,
            .metric = metric_,
            .pair = std::move(pair),
            .better = shown_metric(base_, metric_).better,
            .change = change,
            .why = fmt::format("the {} run does not have this pair",
                               change == Change::missing ? "new" : "base")};
  }

  Row row_of(RowPair pair, std::vector<LaunchRecord> base, std::vector<LaunchRecord> now) const {
    auto row = weigh(metric_, runs_, case_of(base_, metric_, std::move(base)),
                     case_of(now_, metric_, std::move(now)), demands_);
    row.series.pair = std::move(pair);
    return row;
  }

  const std::string& metric_;
  const TwoRuns& runs_;
  const SameRanks& same_;
  const Case& base_;
  const Case& now_;
  const Demands& demands_;
  Hosts base_hosts_, new_hosts_;
};

// The larger, the worse; of rows that were not tested all are alike.
double loss_of(const SeriesChange& series) {
  const auto log = std::log(series.ratio.estimate);
  return series.better == "higher" ? -log : log;
}

}  // namespace

std::string in_words(const RowPair& pair) {
  auto words = fmt::format("pair {}->{}", pair.src, pair.dst);
  std::vector<std::string> more;
  if (pair.several_hosts) {
    more.push_back(pair.src_host == pair.dst_host
                       ? pair.src_host
                       : fmt::format("{}->{}", pair.src_host, pair.dst_host));
  }
  if (pair.in_base && *pair.in_base != Ranks(pair.src, pair.dst)) {
    more.push_back(
        fmt::format("{}->{} in the base run", pair.in_base->first, pair.in_base->second));
  }
  if (!more.empty()) words += " (" + join(more, "; ") + ")";
  if (pair.slowest_of > 1) words += fmt::format(", slowest of {}", pair.slowest_of);
  if (pair.stands_for > 1) {
    words += pair.of_one_run ? fmt::format(" and {} more", pair.stands_for - 1)
                             : fmt::format(", worst of {}", pair.stands_for);
  }
  return words;
}

const char* pair_metric_of(const Case& base, const Case& now) {
  bool all_have_rates = true;
  std::array<bool, 2> have_times{};
  for (const bool newer : {false, true}) {
    for (const auto& whole : (newer ? now : base).launches) {
      for (const auto& of : pairs_in(whole)) {
        if (of.contains(time_field)) have_times[newer ? 1 : 0] = true;
        all_have_rates &= number_at(of, rate_field) || number_at(of, "messages") == 0.0;
      }
    }
  }
  if (have_times[0] != have_times[1]) return nullptr;
  return all_have_rates || !have_times[0] ? pair_rate : pair_time;
}

bool have_same_pairs(const std::string& metric, const SameRanks& same, const Case& base,
                     const Case& now) {
  if (is_of_all_ranks(base)) return true;
  const auto of_base = records_of(base, metric);
  const auto of_now = records_of(now, metric);
  if (std::max(of_base.size(), of_now.size()) < 2 && !same.several_hosts) return true;
  return are_same(same, of_base, of_now);
}

bool has_pairs(const Case& of) {
  std::set<Ranks> pairs;
  for (const auto& record : of.launches) {
    pairs.emplace(record.src, record.dst);
    if (pairs_in(record).size() > 1 || pairs.size() > 1) return true;
  }
  return false;
}

std::vector<Row> rows_of_pairs(const std::string& metric, const TwoRuns& runs,
                               const SameRanks& same, const Case& base, const Case& now,
                               const Demands& demands) {
  return PairRows(metric, runs, same, base, now, demands).rows();
}

std::vector<SeriesChange> folded_rows(const Comparison& comparison) {
  struct Fold {
    const SeriesChange* worst = nullptr;
    std::size_t size = 0;
  };
  std::map<std::tuple<std::string, std::string, Change>, Fold> folds;
  const auto stands_alone = [](const SeriesChange& row) {
    return !row.pair || row.change == Change::failed || row.change == Change::regressed ||
           row.change == Change::improved;
  };
  for (const auto& row : comparison.series) {
    if (stands_alone(row)) continue;
    auto& fold = folds[{row.key, row.metric, row.change}];
    ++fold.size;
    if (fold.worst == nullptr || loss_of(row) > loss_of(*fold.worst)) fold.worst = &row;
  }
  std::vector<SeriesChange> rows;
  for (const auto& row : comparison.series) {
    if (stands_alone(row)) {
      rows.push_back(row);
      continue;
    }
    const auto& fold = folds.at({row.key, row.metric, row.change});
    if (&row != fold.worst) continue;
    rows.push_back(row);
    rows.back().pair->stands_for = fold.size;
  }
  return rows;
}

std::vector<SeriesChange> printed_rows(const Comparison& comparison) {
  std::vector<SeriesChange> rows;
  for (auto& row : folded_rows(comparison)) {
    const auto same = std::ranges::find_if(rows, [&](const SeriesChange& other) {
      return row.pair && row.pair->of_one_run && other.pair && other.pair->of_one_run &&
             other.key == row.key && other.change == row.change;
    });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
      continue;
    }
    same->metric += ", " + row.metric;
    same->pair->stands_for = std::max(same->pair->stands_for, row.pair->stands_for);
  }
  return rows;
}

}  // namespace ucxbench
