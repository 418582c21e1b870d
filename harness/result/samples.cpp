#include "harness/result/samples.hpp"

#include <algorithm>

#include "harness/core/statistics.hpp"

namespace ucxbench {

Quantiles quantiles_of(std::vector<double> values) {
  Quantiles q;
  q.count = values.size();
  if (values.empty()) return q;
  std::sort(values.begin(), values.end());
  q.min = values.front();
  q.max = values.back();
  q.p50 = quantile_of_sorted(values, 0.5);
  if (q.count >= 10) q.p90 = quantile_of_sorted(values, 0.9);
  if (q.count >= 100) q.p99 = quantile_of_sorted(values, 0.99);
  if (q.count >= 1000) q.p999 = quantile_of_sorted(values, 0.999);
  return q;
}

Samples make_samples(std::vector<double> values, std::size_t keep) {
  Samples samples;
  samples.seen = values.size();
  for (const auto index : even_choice(values.size(), keep)) samples.values.push_back(values[index]);
  samples.quantiles = quantiles_of(std::move(values));
  return samples;
}

}  // namespace ucxbench
