#include "harness/result/workload_summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "harness/core/statistics.hpp"
#include "harness/result/interval.hpp"

namespace ucxbench {
namespace {

// Numbers by their places in lists of equal length.
Json medians_of_numbers(const std::vector<Json>& lists) {
  Json medians = Json::array();
  for (std::size_t at = 0; at < lists.front().size(); ++at) {
    std::vector<double> values;
    for (const auto& list : lists) {
      if (at < list.size() && list.at(at).is_number()) {
        values.push_back(list.at(at).get<double>());
      }
    }
    medians.push_back(values.empty() ? Json() : Json(median(std::move(values))));
  }
  return medians;
}

// Of each number that any of `launches` has, the median, with its interval under `intervals`; of a
// list of numbers, the median at each place. `identity` fields are the first one's, `totals` are
// added up.
Json median_of(const std::vector<Json>& launches, const std::vector<std::string>& identity,
               const std::vector<std::string>& totals, bool with_intervals) {
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  Json all = launches.front();
  for (const auto& launch : launches) all.insert(launch.begin(), launch.end());
  auto intervals = Json::object();
  for (auto& [name, value] : all.items()) {
    if (among(identity, name)) continue;
    std::vector<Json> lists;
    std::vector<double> values;
    for (const auto& launch : launches) {
      const auto own = launch.find(name);
      if (own == launch.end()) continue;
      if (own->is_array()) lists.push_back(*own);
      if (own->is_number()) values.push_back(own->get<double>());
    }
    if (!lists.empty()) {
      value = medians_of_numbers(lists);
    } else if (values.empty()) {
      continue;
    } else if (among(totals, name)) {
      std::uint64_t sum = 0;
      for (const auto& launch : launches) sum += launch.at(name).get<std::uint64_t>();
      value = sum;
    } else {
      if (with_intervals) intervals[name] = to_json(interval_over(values));
      value = median(std::move(values));
    }
  }
  if (with_intervals) all["intervals"] = std::move(intervals);
  return all;
}

// At each place of a list, what all launches have there.
std::vector<std::vector<Json>> by_place(const std::vector<const Json*>& launches,
                                        const char* list) {
  std::vector<std::vector<Json>> columns;
  for (const auto* launch : launches) {
    const auto& own = launch->at(list);
    columns.resize(std::max(columns.size(), own.size()));
    for (std::size_t at = 0; at < own.size(); ++at) columns[at].push_back(own.at(at));
  }
  return columns;
}

// The rank with the largest median over launches, and that median.
void name_slowest(Json& phase, const std::vector<Json>& launches) {
  phase["slowest_rank"] = phase["slowest_ms"] = phase["intervals"]["slowest_ms"] = nullptr;
  const auto medians = phase.value("by_rank_ms", Json::array());
  const auto slowest = std::ranges::max_element(
      medians, {}, [](const Json& ms) { return ms.is_number() ? ms.get<double>() : -1; });
  if (slowest == medians.end() || !slowest->is_number()) return;
  const auto rank = static_cast<std::size_t>(slowest - medians.begin());
  std::vector<double> of_rank;
  for (const auto& launch : launches) {
    const auto own = launch.value("by_rank_ms", Json::array());
    if (own.size() > rank && own[rank].is_number()) of_rank.push_back(own[rank].get<double>());
  }
  phase["slowest_rank"] = rank;
  phase["slowest_ms"] = *slowest;
  phase["intervals"]["slowest_ms"] = to_json(interval_over(std::move(of_rank)));
}

Json phases_over(const std::vector<const Json*>& all) {
  Json phases = Json::array();
  for (const auto& launches : by_place(all, "phases")) {
    phases.push_back(median_of(launches, {"name", "kind", "slowest_rank"}, {}, true));
    name_slowest(phases.back(), launches);
  }
  return phases;
}

}  // namespace

void summarize_workload(Case& measured) {
  std::vector<const Json*> launches;
  for (const auto& record : measured.launches) {
    if (record.workload.contains("exchange")) launches.push_back(&record.workload);
  }
  if (launches.empty()) return;
  measured.phases = phases_over(launches);
  measured.pairs = Json::array();
  const auto pairs = by_place(launches, "pairs");
  for (const auto& of_launches : pairs) {
    measured.pairs.push_back(
        median_of(of_launches, {"src", "dst", "p50_bytes", "p99_bytes", "recorded_GBps"},
                  {"bytes", "messages"}, pairs.size() <= most_pairs_with_intervals));
  }
  std::vector<Json> exchanges;
  for (const auto* launch : launches) exchanges.push_back(launch->at("exchange"));
  measured.exchange = median_of(exchanges, {}, {}, true);
}

}  // namespace ucxbench
