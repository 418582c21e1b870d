#include "harness/analysis/comparison/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ucxbench {
namespace {

constexpr std::size_t most_exact = 100;

struct Ranked {
  std::size_t doubled;  ///< rank, midranks being halves
  int sign;
};

// By size; zeros first.
std::vector<Ranked> ranks_of(std::span<const double> logs) {
  std::vector<double> sorted(logs.begin(), logs.end());
  std::ranges::sort(sorted, {}, [](double log) { return std::abs(log); });
  std::vector<Ranked> ranks;
  for (std::size_t from = 0; from < sorted.size();) {
    auto to = from;
    while (to < sorted.size() && std::abs(sorted[to]) == std::abs(sorted[from])) ++to;
    for (auto at = from; at < to; ++at) {
      ranks.push_back({from + to + 1, sorted[at] > 0 ? 1 : sorted[at] < 0 ? -1 : 0});
    }
    from = to;
  }
  return ranks;
}

// The share of all choices of signs that has each doubled sum of positive ranks.
std::vector<double> shares_of(const std::vector<std::size_t>& doubled) {
  std::vector<double> shares = {1};
  for (const auto rank : doubled) {
    std::vector<double> more(shares.size() + rank);
    for (std::size_t sum = 0; sum < shares.size(); ++sum) {
      more[sum] += shares[sum] / 2;
      more[sum + rank] += shares[sum] / 2;
    }
    shares = std::move(more);
  }
  return shares;
}

double of_both_tails(double deviations) { return std::erfc(deviations / std::sqrt(2)); }

// The largest sum of ranks that the test refuses for being too small; -1 where it refuses none.
long largest_refused(std::size_t n, double alpha) {
  if (n > most_exact) {
    const auto values = static_cast<double>(n);
    const auto mean = values * (values + 1) / 4;
    const auto deviation = std::sqrt(values * (values + 1) * (2 * values + 1) / 24);
    auto sum = static_cast<long>(mean);
    while (sum >= 0 && of_both_tails((mean - static_cast<double>(sum) - 0.5) / deviation) > alpha) {
      --sum;
    }
    return sum;
  }
  std::vector<std::size_t> doubled(n);
  for (std::size_t at = 0; at < n; ++at) doubled[at] = 2 * (at + 1);
  const auto shares = shares_of(doubled);
  long sum = -1;
  double outside = 0;
  for (std::size_t at = 0; at < shares.size(); at += 2) {
    outside += shares[at];
    if (2 * outside > alpha) break;
    ++sum;
  }
  return sum;
}

}  // namespace

double signed_rank_p(std::span<const double> logs) {
  std::vector<std::size_t> doubled;
  double positive = 0;
  for (const auto& [rank, sign] : ranks_of(logs)) {
    if (sign == 0) continue;
    doubled.push_back(rank);
    if (sign > 0) positive += static_cast<double>(rank);
  }
  if (doubled.empty()) return 1;
  const auto mean =
      static_cast<double>(std::accumulate(doubled.begin(), doubled.end(), std::size_t{0})) / 2;
  const auto away = std::abs(positive - mean);
  if (doubled.size() > most_exact) {
    double variance = 0;
    for (const auto rank : doubled) variance += std::pow(static_cast<double>(rank), 2) / 4;
    return std::min(1.0, of_both_tails(std::max(away - 1, 0.0) / std::sqrt(variance)));
  }
  const auto shares = shares_of(doubled);
  double p = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum) {
    if (std::abs(static_cast<double>(sum) - mean) >= away) p += shares[sum];
  }
  return std::min(p, 1.0);
}

double smallest_signed_rank_p(std::size_t duets) {
  return std::min(1.0, std::exp2(1 - static_cast<double>(duets)));
}

Ratio signed_rank_ratio(std::span<const double> logs, double confidence) {
  std::vector<double> averages;
  averages.reserve(logs.size() * (logs.size() + 1) / 2);
  for (std::size_t one = 0; one < logs.size(); ++one) {
    for (std::size_t other = one; other < logs.size(); ++other) {
      averages.push_back((logs[one] + logs[other]) / 2);
    }
  }
  std::ranges::sort(averages);
  const auto all = averages.size();
  Ratio ratio;
  ratio.estimate = std::exp((averages[(all - 1) / 2] + averages[all / 2]) / 2);
  const auto refused = largest_refused(logs.size(), 1 - confidence);
  if (refused < 0) return ratio;
  const auto outside = static_cast<std::size_t>(refused);
  ratio.interval = {{std::exp(averages[outside]), std::exp(averages[all - 1 - outside])}};
  return ratio;
}

double trimmed_mean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto cut = static_cast<std::ptrdiff_t>(sorted.size() / 5);
  const auto left = static_cast<double>(sorted.size()) - 2 * static_cast<double>(cut);
  return std::accumulate(sorted.begin() + cut, sorted.end() - cut, 0.0) / left;
}

}  // namespace ucxbench
