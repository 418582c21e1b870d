#include "harness/analysis/comparison/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace ucxbench {
namespace {

using Count = std::int64_t;
/// By twice a stratum's U (pairs in which the new value is the larger one, equal ones count half):
/// the share of all ways to choose which values are the new run's that have it.
using Shares = std::vector<double>;

constexpr double most_steps = 1e8;              // of counting, a tenth of a second
constexpr std::size_t most_without_ties = 400;  // ways to choose stay below 1e300
constexpr double precision = 1e-16;             // of a ratio's logarithm
constexpr Count finest_weight = 4;              // of the largest stratum: weights are whole numbers

std::size_t size_of(const Stratum& stratum) { return stratum.base.size() + stratum.now.size(); }

// Twice the midrank of each value among all, the new run's first: whole numbers.
std::vector<std::size_t> doubled_ranks(const Stratum& stratum) {
  auto all = stratum.now;
  all.insert(all.end(), stratum.base.begin(), stratum.base.end());
  auto sorted = all;
  std::ranges::sort(sorted);
  std::vector<std::size_t> ranks;
  for (const auto value : all) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<std::size_t>(first - sorted.begin()) +
                    static_cast<std::size_t>(last - sorted.begin()) + 1);
  }
  return ranks;
}

bool has_ties(std::vector<std::size_t> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

// The Gaussian binomial coefficient: a product of polynomials (1 - q^(m+i)) / (1 - q^i), of which
// the first half is enough.
const Shares& shares_without_ties(std::size_t n, std::size_t m) {
  static thread_local std::map<std::pair<std::size_t, std::size_t>, Shares> known;
  if (const auto found = known.find({n, m}); found != known.end()) return found->second;
  std::vector<double> ways(n * m / 2 + 1);
  ways[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (auto u = ways.size(); u-- > m + i;) ways[u] -= ways[u - m - i];
    for (auto u = i; u < ways.size(); ++u) ways[u] += ways[u - i];
  }
  Shares shares(2 * n * m + 1);
  for (std::size_t u = 0; u <= n * m; ++u) shares[2 * u] = ways[std::min(u, n * m - u)];
  const auto all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (auto& share : shares) share /= all;
  return known[{n, m}] = std::move(shares);
}

// Of rank sums of all subsets of `n` of these doubled ranks.
Shares shares_with_ties(const std::vector<std::size_t>& ranks, std::size_t n) {
  const auto total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  // by_size[k][s]: subsets of k of the ranks so far, with sum s.
  std::vector<std::vector<double>> by_size(n + 1, std::vector<double>(total + 1));
  by_size[0][0] = 1;
  std::size_t so_far = 0;
  for (const auto rank : ranks) {
    so_far += rank;
    for (auto k = n; k > 0; --k) {
      for (auto sum = so_far; sum + 1 > rank; --sum) by_size[k][sum] += by_size[k - 1][sum - rank];
    }
  }
  const auto& counts = by_size[n];
  const auto all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto least = n * (n + 1);  // doubled: of the n smallest, without ties
  Shares shares(2 * n * (ranks.size() - n) + 1);
  for (std::size_t u = 0; u < shares.size(); ++u) shares[u] = counts[least + u] / all;
  return shares;
}

// Whole numbers in the proportions of 1/(N + 1): any weights make an exact test, these a strong
// one.
std::vector<Count> weights_of(std::span<const Stratum> strata) {
  std::size_t largest = 0;
  for (const auto& stratum : strata) largest = std::max(largest, size_of(stratum) + 1);
  std::vector<Count> weights;
  for (const auto& stratum : strata) {
    const auto share = static_cast<double>(largest) / static_cast<double>(size_of(stratum) + 1);
    weights.push_back(strata.size() == 1 ? 1 : std::llround(finest_weight * share));
  }
  return weights;
}

/// The weighted sum over strata of twice their U, if both runs are of one distribution.
struct Null {
  double mean = 0, variance = 0;
  Count largest = 0;  ///< possible; the smallest is 0
  Count smallest_weight = 1;
  Shares shares{};  ///< exact, by sum; empty where that would take long
};

// A stratum with ties is counted anew, one without was counted before.
bool takes_long(const Stratum& stratum, bool ties) {
  const auto n = static_cast<double>(stratum.now.size());
  const auto all = static_cast<double>(size_of(stratum));
  return ties ? n * all * all * all / 2 > most_steps : size_of(stratum) > most_without_ties;
}

void add(Shares& sums, const Shares& more, Count weight) {
  const auto step = static_cast<std::size_t>(weight);
  Shares result(sums.size() + step * (more.size() - 1));
  for (std::size_t u = 0; u < more.size(); ++u) {
    if (more[u] == 0) continue;
    for (std::size_t sum = 0; sum < sums.size(); ++sum) {
      result[sum + step * u] += sums[sum] * more[u];
    }
  }
  sums = std::move(result);
}

// Of U doubled, therefore 4 times U's; corrected for ties.
double variance_of(std::vector<std::size_t> ranks, std::size_t now) {
  const auto n = static_cast<double>(now);
  const auto all = static_cast<double>(ranks.size());
  std::ranges::sort(ranks);
  double ties = 0;
  for (auto from = ranks.begin(); from != ranks.end();) {
    const auto to = std::upper_bound(from, ranks.end(), *from);
    const auto count = static_cast<double>(to - from);
    ties += count * count * count - count;
    from = to;
  }
  return n * (all - n) / 3 * (all + 1 - ties / (all * (all - 1)));
}

// With the ties that there are, or as if there were none.
Null null_of(std::span<const Stratum> strata, bool with_ties) {
  const auto weights = weights_of(strata);
  Null null{.smallest_weight = std::ranges::min(weights), .shares = {1}};
  bool exact = true;
  for (std::size_t at = 0; at < strata.size(); ++at) {
    const auto& stratum = strata[at];
    auto ranks = doubled_ranks(stratum);
    const bool ties = with_ties && has_ties(ranks);
    if (!with_ties) {
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = 2 * (rank + 1);
    }
    const auto pairs = stratum.base.size() * stratum.now.size();
    const auto weight = static_cast<double>(weights[at]);
    null.mean += weight * static_cast<double>(pairs);
    null.variance += weight * weight * variance_of(ranks, stratum.now.size());
    null.largest += weights[at] * static_cast<Count>(2 * pairs);
    exact &= !takes_long(stratum, ties) &&
             static_cast<double>(null.shares.size()) * static_cast<double>(pairs) < most_steps;
    if (!exact) continue;
    add(null.shares,
        ties ? shares_with_ties(ranks, stratum.now.size())
             : shares_without_ties(stratum.now.size(), stratum.base.size()),
        weights[at]);
  }
  if (!exact) null.shares.clear();
  return null;
}

Count weighted_sum_of(std::span<const Stratum> strata) {
  const auto weights = weights_of(strata);
  Count sum = 0;
  for (std::size_t at = 0; at < strata.size(); ++at) {
    const auto ranks = doubled_ranks(strata[at]);
    const auto n = strata[at].now.size();
    const auto of_new =
        std::accumulate(ranks.begin(), ranks.begin() + static_cast<Count>(n), std::size_t{0});
    sum += weights[at] * static_cast<Count>(of_new - n * (n + 1));
  }
  return sum;
}

// The normal distribution's: so many standard deviations away, on one side or the other.
double two_sided(double deviations) { return std::erfc(deviations / std::sqrt(2)); }

double deviations_of(double p) {
  double low = 0;
  double high = 40;
  while (high - low > 1e-9) {
    const auto middle = (low + high) / 2;
    (two_sided(middle) > p ? low : high) = middle;
  }
  return low;
}

// The largest sum that the test refuses for being too small; negative where it refuses none.
Count largest_refused(const Null& null, double alpha) {
  if (null.shares.empty()) {
    return static_cast<Count>(std::floor(null.mean -
                                         deviations_of(alpha) * std::sqrt(null.variance) -
                                         static_cast<double>(null.smallest_weight)));
  }
  Count sum = -1;
  double outside = 0;
  for (const auto share : null.shares) {
    outside += share;
    if (2 * outside > alpha) break;
    ++sum;
  }
  return sum;
}

/// Weights of the ratios in all strata: twice the stratum's for each pair.
class Ratios {
 public:
  explicit Ratios(std::span<const Stratum> strata) : weights_(weights_of(strata)) {
    for (const auto& stratum : strata) {
      auto& sorted = logs_.emplace_back();
      for (const auto value : stratum.base) sorted.base.push_back(std::log(value));
      for (const auto value : stratum.now) sorted.now.push_back(std::log(value));
      std::ranges::sort(sorted.base);
      std::ranges::sort(sorted.now);
      least_ = std::min(least_, sorted.now.front() - sorted.base.back());
      most_ = std::max(most_, sorted.now.back() - sorted.base.front());
    }
  }

  // The smallest logarithm of a ratio above which there is no more weight than this.
  double with_at_most_above(Count weight) const {
    auto low = least_ - 1;
    auto high = most_;
    while (high - low > precision) {
      const auto middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (weight_above(middle) > weight ? low : high) = middle;
    }
    return high;
  }

 private:
  Count weight_above(double log) const {
    Count weight = 0;
    for (std::size_t at = 0; at < logs_.size(); ++at) {
      const auto& [base, now] = logs_[at];
      std::size_t below = 0;  // of base's, those that this new value is above by more than that
      Count pairs = 0;
      for (const auto value : now) {
        while (below < base.size() && value - base[below] > log) ++below;
        pairs += static_cast<Count>(below);
      }
      weight += 2 * weights_[at] * pairs;
    }
    return weight;
  }

  std::vector<Count> weights_;
  std::vector<Stratum> logs_;
  double least_ = HUGE_VAL;
  double most_ = -HUGE_VAL;
};

}  // namespace

double rank_sum_p(std::span<const Stratum> strata) {
  const auto null = null_of(strata, true);
  const auto away = std::abs(static_cast<double>(weighted_sum_of(strata)) - null.mean);
  if (null.shares.empty()) {
    if (null.variance <= 0) return 1;
    const auto less = std::max(away - static_cast<double>(null.smallest_weight), 0.0);
    return two_sided(less / std::sqrt(null.variance));
  }
  double p = 0;
  for (std::size_t sum = 0; sum < null.shares.size(); ++sum) {
    if (std::abs(static_cast<double>(sum) - null.mean) >= away) p += null.shares[sum];
  }
  return std::min(p, 1.0);
}

double smallest_p(std::size_t base, std::size_t now) {
  const auto d = [](std::size_t n) { return static_cast<double>(n) + 1; };
  // Two of all ways to choose: all of the base below the new run's, all above.
  return std::min(
      1.0, 2 * std::exp(std::lgamma(d(base)) + std::lgamma(d(now)) - std::lgamma(d(base + now))));
}

double smallest_p(std::span<const Stratum> strata) {
  double p = 2;
  for (const auto& stratum : strata) p *= smallest_p(stratum.base.size(), stratum.now.size()) / 2;
  return std::min(1.0, p);
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

Ratio ratio_of(std::span<const Stratum> strata, double confidence) {
  const auto null = null_of(strata, false);
  const Ratios ratios(strata);
  // As many ratios are above the true one as the test's sum says.
  const auto half = null.largest / 2;
  Ratio ratio;
  ratio.estimate =
      std::exp((ratios.with_at_most_above(half) + ratios.with_at_most_above(half - 1)) / 2);
  const auto refused = largest_refused(null, 1 - confidence);
  if (refused < 0) return ratio;
  ratio.interval = {{std::exp(ratios.with_at_most_above(null.largest - refused - 1)),
                     std::exp(ratios.with_at_most_above(refused))}};
  return ratio;
}

}  // namespace ucxbench
