#include "harness/analysis/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_exact = 200;

// Twice the midrank of each value among all, `a` first: whole numbers.
std::vector<std::size_t> doubled_ranks(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> ranks;
  for (const auto value : all) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<std::size_t>(first - sorted.begin()) +
                    static_cast<std::size_t>(last - sorted.begin()) + 1);
  }
  return ranks;
}

// By sum: the share of all subsets of `size` of these numbers that have it.
std::vector<double> distribution_of_sums(const std::vector<std::size_t>& numbers,
                                         std::size_t size) {
  const auto total = std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
  // by_size[k][s]: subsets of k of the numbers so far, with sum s.
  std::vector<std::vector<double>> by_size(size + 1, std::vector<double>(total + 1));
  by_size[0][0] = 1;
  std::size_t so_far = 0;
  for (const auto number : numbers) {
    so_far += number;
    for (auto k = size; k > 0; --k) {
      for (auto sum = so_far; sum + 1 > number; --sum) {
        by_size[k][sum] += by_size[k - 1][sum - number];
      }
    }
  }
  auto& counts = by_size[size];
  const auto all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (auto& count : counts) count /= all;
  return counts;
}

double exact_p(const std::vector<std::size_t>& ranks, std::size_t a) {
  const auto middle = std::ptrdiff_t(a * (ranks.size() + 1));  // doubled, as the ranks
  const auto distance = [&](std::size_t sum) { return std::abs(std::ptrdiff_t(sum) - middle); };
  const auto seen =
      distance(std::accumulate(ranks.begin(), ranks.begin() + std::ptrdiff_t(a), std::size_t{0}));
  const auto shares = distribution_of_sums(ranks, a);
  double p = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum) {
    if (distance(sum) >= seen) p += shares[sum];
  }
  return std::min(p, 1.0);
}

double normal_p(const std::vector<std::size_t>& ranks, std::size_t a) {
  const auto n = static_cast<double>(ranks.size());
  const auto n1 = static_cast<double>(a);
  double sum = 0;
  for (std::size_t i = 0; i < a; ++i) sum += static_cast<double>(ranks[i]) / 2;
  auto sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  double ties = 0;
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to = std::upper_bound(from, sorted.end(), *from);
    const auto count = static_cast<double>(to - from);
    ties += count * count * count - count;
    from = to;
  }
  const auto variance = n1 * (n - n1) / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  const auto away = std::max(std::abs(sum - n1 * (n + 1) / 2) - 0.5, 0.0);
  return std::erfc(away / std::sqrt(2 * variance));
}

}  // namespace

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  const auto ranks = doubled_ranks(a, b);
  return ranks.size() <= most_exact ? exact_p(ranks, a.size()) : normal_p(ranks, a.size());
}

double smallest_p(std::size_t a, std::size_t b) {
  const auto d = [](std::size_t n) { return static_cast<double>(n) + 1; };
  // Two of all ways to choose: all of a below b, all above.
  return std::min(1.0, 2 * std::exp(std::lgamma(d(a)) + std::lgamma(d(b)) - std::lgamma(d(a + b))));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto one, auto other) { return p[one] < p[other]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    largest = std::max(largest, p[order[place]] * static_cast<double>(p.size() - place));
    corrected[order[place]] = std::min(largest, 1.0);
  }
  return corrected;
}

Ratio ratio_of(std::span<const double> a, std::span<const double> b, double confidence) {
  std::vector<double> logs;
  for (const auto base : a) {
    for (const auto other : b) logs.push_back(std::log(other / base));
  }
  std::sort(logs.begin(), logs.end());
  Ratio ratio;
  ratio.estimate = std::exp(quantile_of_sorted(logs, 0.5));
  if (a.size() + b.size() > most_exact) return ratio;
  // U counts the differences below zero; its distribution without ties gives how many of the
  // smallest and largest ones may be left out.
  std::vector<std::size_t> ranks(a.size() + b.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const auto shares = distribution_of_sums(ranks, a.size());
  const auto least = a.size() * (a.size() + 1) / 2;
  double outside = 0;
  std::size_t left_out = 0;
  while (2 * (outside + shares[least + left_out]) <= 1 - confidence) {
    outside += shares[least + left_out++];
  }
  if (left_out == 0) return ratio;
  ratio.interval = {{std::exp(logs[left_out - 1]), std::exp(logs[logs.size() - left_out])}};
  return ratio;
}

}  // namespace ucxbench
