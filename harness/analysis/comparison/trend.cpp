#include "harness/analysis/comparison/trend.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_exact_trend = 100;

// By number of descending pairs: the share of all orders of n different values that have it. A
// value put behind i others descends from 0 to i of them, each equally often.
std::vector<double> shares_by_descents(std::size_t n) {
  std::vector<double> shares = {1};
  for (std::size_t i = 1; i < n; ++i) {
    std::vector<double> next(shares.size() + i);
    for (std::size_t at = 0; at < shares.size(); ++at) {
      for (std::size_t more = 0; more <= i; ++more) {
        next[at + more] += shares[at] / static_cast<double>(i + 1);
      }
    }
    shares = std::move(next);
  }
  return shares;
}

// `score`: ascending pairs less descending ones.
double exact_trend_p(std::ptrdiff_t score, std::size_t n) {
  const auto shares = shares_by_descents(n);
  const auto pairs = static_cast<std::ptrdiff_t>(n * (n - 1) / 2);
  double p = 0;
  for (std::size_t descents = 0; descents < shares.size(); ++descents) {
    const auto other = pairs - 2 * static_cast<std::ptrdiff_t>(descents);
    if (std::abs(other) >= std::abs(score)) p += shares[descents];
  }
  return std::min(p, 1.0);
}

double normal_trend_p(std::ptrdiff_t score, std::vector<double> values) {
  const auto part = [](double count) { return count * (count - 1) * (2 * count + 5); };
  auto variance = part(static_cast<double>(values.size()));
  std::sort(values.begin(), values.end());
  for (auto from = values.begin(); from != values.end();) {
    const auto to = std::upper_bound(from, values.end(), *from);
    variance -= part(static_cast<double>(to - from));
    from = to;
  }
  if (variance <= 0) return 1;
  const auto away = std::max(std::abs(static_cast<double>(score)) - 1, 0.0);
  return std::erfc(away / std::sqrt(2 * variance / 18));
}

}  // namespace

Trend trend_of(std::span<const double> values) {
  const auto n = values.size();
  if (n < 2) return {};
  std::ptrdiff_t score = 0;
  bool ties = false;
  std::vector<double> slopes;
  for (std::size_t later = 1; later < n; ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto up = values[later] > values[earlier];
      const auto down = values[later] < values[earlier];
      score += (up ? 1 : 0) - (down ? 1 : 0);
      ties |= !up && !down;
      slopes.push_back(std::log(values[later] / values[earlier]) /
                       static_cast<double>(later - earlier));
    }
  }
  const bool exact = !ties && n <= most_exact_trend;
  return {
      .p = exact ? exact_trend_p(score, n) : normal_trend_p(score, {values.begin(), values.end()}),
      .change = std::expm1(median(std::move(slopes)) * static_cast<double>(n - 1))};
}

}  // namespace ucxbench
