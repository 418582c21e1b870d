#include "harness/result/samples.hpp"

#include <algorithm>
#include <numeric>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

// Readings of one instant differ by the rounding to ticks, which is far below half a step.
void spread_over_steps(std::vector<double>& sorted, double step) {
  for (std::size_t begin = 0; begin < sorted.size();) {
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = std::upper_bound(from, sorted.end(), *from + step / 2);
    const auto count = static_cast<double>(to - from);
    const auto middle = std::accumulate(from, to, 0.0) / count;
    double at = 0.5;
    for (auto value = from; value != to; ++value, ++at) {
      *value = middle + step * (at / count - 0.5);
    }
    begin = static_cast<std::size_t>(to - sorted.begin());
  }
}

}  // namespace

Quantiles quantiles_of(std::vector<double> values, double step) {
  Quantiles q;
  q.count = values.size();
  if (values.empty()) return q;
  std::sort(values.begin(), values.end());
  q.min = values.front();
  q.max = values.back();
  if (step > 0) spread_over_steps(values, step);
  q.p50 = quantile_of_sorted(values, 0.5);
  if (q.count >= 10) q.p90 = quantile_of_sorted(values, 0.9);
  if (q.count >= 100) q.p99 = quantile_of_sorted(values, 0.99);
  if (q.count >= 1000) q.p999 = quantile_of_sorted(values, 0.999);
  return q;
}

Samples make_samples(std::vector<double> values, std::size_t keep, double step) {
  Samples samples;
  samples.seen = values.size();
  for (const auto index : even_choice(values.size(), keep)) samples.values.push_back(values[index]);
  samples.quantiles = quantiles_of(std::move(values), step);
  return samples;
}

void add_pair_medians(LaunchRecord& record,
                      const std::map<std::pair<int, int>, std::vector<double>>& GBps) {
  auto& pairs = record.workload["pairs"];
  if (pairs.is_null()) pairs = Json::array();
  for (const auto& [ranks, rates] : GBps) {
    pairs.push_back({{"src", ranks.first}, {"dst", ranks.second}, {"p50_GBps", median(rates)}});
  }
}

}  // namespace ucxbench
