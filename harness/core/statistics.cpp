#include "harness/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ucxbench {

double quantile_of_sorted(std::span<const double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, 0.5);
}

double error_of_median(const std::vector<double>& values) {
  const auto middle = median(values);
  const auto n = static_cast<double>(values.size());
  std::vector<double> away;
  for (const auto value : values) away.push_back(std::abs(value - middle));
  const auto average = mean(away);
  const auto usual = median(std::move(away));
  return (usual > 0 ? usual / 0.6745 : average / 0.7979) * std::sqrt(1.5707963 / n);
}

std::optional<std::array<double, 2>> median_ci95(std::vector<double> values) {
  const auto n = values.size();
  if (n < 6) return std::nullopt;
  // P(B(n,½) ≤ k), accumulated in logarithms since 2^-n underflows for large n.
  const auto log_choose = [n](std::size_t k) {
    const auto d = [](std::size_t i) { return static_cast<double>(i); };
    return std::lgamma(d(n) + 1) - std::lgamma(d(k) + 1) - std::lgamma(d(n - k) + 1);
  };
  double tail = 0;
  std::size_t k = 0;
  for (;; ++k) {
    tail += std::exp(log_choose(k) - static_cast<double>(n) * std::log(2.0));
    if (2 * tail > 0.05) break;
  }
  // k is the first that fails; n ≥ 6 makes k = 0 succeed.
  std::sort(values.begin(), values.end());
  return std::array{values[k - 1], values[n - k]};
}

std::vector<std::size_t> even_choice(std::size_t n, std::size_t keep) {
  std::vector<std::size_t> chosen(std::min(n, keep));
  if (n <= keep) {
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  } else {
    for (std::size_t i = 0; i < keep; ++i) chosen[i] = i * n / keep;
  }
  return chosen;
}

}  // namespace ucxbench
