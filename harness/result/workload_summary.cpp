#include "harness/result/workload_summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "harness/core/statistics.hpp"

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

// Like the first, with the median of every number that is at the same place in all of `launches`;
// `identity` fields stay as they are, `totals` are added up.
Json median_of(const std::vector<Json>& launches, const std::vector<std::string>& identity,
               const std::vector<std::string>& totals) {
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  Json all = launches.front();
  for (auto& [name, value] : all.items()) {
    if (among(identity, name)) continue;
    if (value.is_array()) {
      std::vector<Json> lists;
      for (const auto& launch : launches) {
        if (launch.contains(name) && launch.at(name).is_array()) lists.push_back(launch.at(name));
      }
      value = medians_of_numbers(lists);
      continue;
    }
    std::vector<double> values;
    for (const auto& launch : launches) {
      if (launch.contains(name) && launch.at(name).is_number()) {
        values.push_back(launch.at(name).get<double>());
      }
    }
    if (values.empty()) continue;
    if (among(totals, name)) {
      std::uint64_t sum = 0;
      for (const auto& launch : launches) sum += launch.at(name).get<std::uint64_t>();
      value = sum;
    } else {
      value = median(std::move(values));
    }
  }
  return all;
}

Json medians_of_lists(const std::vector<const Json*>& launches, const char* list,
                      const std::vector<std::string>& identity,
                      const std::vector<std::string>& totals) {
  Json all = Json::array();
  for (std::size_t at = 0; at < launches.front()->at(list).size(); ++at) {
    std::vector<Json> entries;
    for (const auto* launch : launches) {
      if (launch->at(list).size() > at) entries.push_back(launch->at(list).at(at));
    }
    all.push_back(median_of(entries, identity, totals));
  }
  return all;
}

}  // namespace

void summarize_workload(Case& measured) {
  std::vector<const Json*> launches;
  std::vector<Json> exchanges;
  for (const auto& record : measured.launches) {
    if (record.workload.empty()) continue;
    launches.push_back(&record.workload);
    exchanges.push_back(record.workload.at("exchange"));
  }
  if (launches.empty()) return;
  measured.phases = medians_of_lists(launches, "phases", {"name", "kind", "slowest_rank"}, {});
  measured.pairs = medians_of_lists(launches, "pairs", {"src", "dst", "p50_bytes", "p99_bytes"},
                                    {"bytes", "messages"});
  measured.exchange = median_of(exchanges, {}, {});
}

}  // namespace ucxbench
