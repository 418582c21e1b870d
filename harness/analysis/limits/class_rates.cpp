#include "harness/analysis/limits/class_rates.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

void put_class_rates(const Case& of, const std::vector<const Json*>& pairs, Json& row) {
  std::vector<double> rates;
  std::set<std::pair<int, int>> ranks;
  for (const auto* pair : pairs) {
    if (const auto rate = number_at(*pair, "p50_GBps")) rates.push_back(*rate);
    ranks.emplace(pair->at("src").get<int>(), pair->at("dst").get<int>());
  }
  row["min_GBps"] = rates.empty() ? Json() : Json(*std::ranges::min_element(rates));
  row["p50_GBps"] = rates.empty() ? Json() : Json(median(rates));
  std::map<int, std::vector<double>> by_launch;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find("bandwidth_GBps");
    if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
    if (!ranks.contains({record.src, record.dst})) continue;
    by_launch[record.launch].push_back(*samples->second.quantiles.p50);
  }
  std::vector<double> medians;
  for (auto& [launch, values] : by_launch) medians.push_back(median(std::move(values)));
  row["intervals"] = {{"p50_GBps", to_json(interval_over(std::move(medians)))}};
}

}  // namespace ucxbench
