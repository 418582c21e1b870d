#include "harness/analysis/sweep/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

constexpr double of_normal = 0.6745;  ///< the MAD of a normal distribution of deviation 1
constexpr std::size_t least_ends = 3;

/// Of an even number the upper one: half of the values may be low for another reason.
double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The middle of values, and how far they scatter, as a standard deviation.
struct Spread {
  double middle = 0;
  double deviation = least_scatter;
  double bound = outlier_z;

  double z(double value) const { return (value - middle) / deviation; }
  bool slow(double value) const {
    return z(value) < -bound && value - middle < std::log(outlier_rate);
  }
};

Spread spread_of(const std::vector<double>& values, double scatter) {
  Spread spread{.middle = median(values), .bound = outlier_bound(values.size())};
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const auto value : values) distances.push_back(std::abs(value - spread.middle));
  spread.deviation = std::max({least_scatter, scatter, median(std::move(distances)) / of_normal});
  return spread;
}

class Search {
 public:
  Search(const RateTable& rates, double scatter)
      : logs_(rates.ends()), ends_(2 * rates.ends()), scatter_(scatter) {
    for (std::size_t from = 0; from < rates.ends(); ++from) {
      for (std::size_t to = 0; to < rates.ends(); ++to) {
        if (from != to) logs_.at(from, to) = std::log(rates.at(from, to));
      }
    }
  }

  Outliers run() {
    measure();
    while (const auto worst = worst_end()) {
      ends_[*worst].slow = true;
      measure();
    }
    Outliers found;
    const auto count = logs_.ends();
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      const auto& of = ends_[end];
      auto& list = end < count ? found.sends : found.receives;
      list.push_back({.of_median = of.known ? std::exp(of.log - spread_.middle) : 1,
                      .z = of.known ? spread_.z(of.log) : 0,
                      .slow = of.slow,
                      .known = of.known});
    }
    found.links = slow_links();
    return found;
  }

 private:
  /// A direction of an end: those who send first, then the same as receivers.
  struct End {
    double log = 0;
    std::size_t slow_rates = 0;  ///< that no slow end at the other side explains
    bool known = false;
    bool slow = false;
  };

  double log_at(std::size_t end, std::size_t other) const {
    const auto count = logs_.ends();
    return end < count ? logs_.at(end, other) : logs_.at(other, end - count);
  }

  /// What each end reaches with those that are not slow themselves; where all are, with all.
  void measure() {
    const auto count = logs_.ends();
    std::vector<std::vector<double>> kept(ends_.size());
    std::vector<double> levels;
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      std::vector<double> all;
      for (std::size_t other = 0; other < count; ++other) {
        const auto log = log_at(end, other);
        if (!std::isfinite(log)) continue;
        all.push_back(log);
        const auto opposite = end < count ? other + count : other;
        if (!ends_[opposite].slow) kept[end].push_back(log);
      }
      if (kept[end].empty()) kept[end] = std::move(all);
      ends_[end].known = !kept[end].empty();
      if (!ends_[end].known) continue;
      ends_[end].log = upper_median(kept[end]);
      levels.push_back(ends_[end].log);
    }
    if (levels.empty()) return;
    spread_ = spread_of(levels, scatter_);
    const auto slow = spread_.middle + std::log(outlier_rate);
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      ends_[end].slow_rates = static_cast<std::size_t>(
          std::ranges::count_if(kept[end], [&](double log) { return log < slow; }));
    }
  }

  std::optional<std::size_t> worst_end() const {
    std::optional<std::size_t> worst;
    const auto badness = [&](std::size_t end) {
      return std::tuple(ends_[end].slow_rates, -ends_[end].log);
    };
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      const auto& of = ends_[end];
      if (!of.known || of.slow || !spread_.slow(of.log)) continue;
      if (!worst || badness(end) > badness(*worst)) worst = end;
    }
    return worst;
  }

  /// What a slow end takes away; a fast one gives nothing.
  double lost_by(std::size_t end) const {
    return ends_[end].known ? std::min(0.0, ends_[end].log - spread_.middle) : 0;
  }

  std::vector<SlowLink> slow_links() const {
    const auto count = logs_.ends();
    std::vector<double> rest;
    std::vector<SlowLink> links;
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        const auto log = logs_.at(from, to);
        if (!std::isfinite(log)) continue;
        rest.push_back(log - spread_.middle - lost_by(from) - lost_by(count + to));
        links.push_back({.from = from, .to = to});
      }
    }
    if (rest.empty()) return {};
    const auto spread = spread_of(rest, scatter_);
    std::vector<SlowLink> slow;
    for (std::size_t at = 0; at < links.size(); ++at) {
      if (!spread.slow(rest[at])) continue;
      slow.push_back(links[at]);
      slow.back().of_expected = std::exp(rest[at] - spread.middle);
      slow.back().z = spread.z(rest[at]);
    }
    std::ranges::stable_sort(slow, {}, &SlowLink::of_expected);
    return slow;
  }

  RateTable logs_;
  std::vector<End> ends_;
  double scatter_;
  Spread spread_;
};

}  // namespace

double outlier_bound(std::size_t of) {
  // P(Z < −t) ≤ exp(−t² / 2) / 2, so many times.
  constexpr double wrong_sweeps = 0.01;
  const auto times = static_cast<double>(of) / (2 * wrong_sweeps);
  return std::max(outlier_z, std::sqrt(2 * std::log(std::max(times, 1.0))));
}

Outliers find_outliers(const RateTable& rates, double scatter) {
  if (rates.ends() >= least_ends) return Search(rates, scatter).run();
  return {.sends = std::vector<EndRate>(rates.ends()),
          .receives = std::vector<EndRate>(rates.ends()),
          .links = {}};
}

}  // namespace ucxbench
