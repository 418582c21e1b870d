#include "harness/analysis/rules/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

/// What it takes to be two modes.
struct ModesLimits {
  std::size_t least;        ///< values: fewer group by chance
  double outliers;          ///< left out at either end
  double least_share;       ///< of either mode
  std::size_t least_count;  ///< likewise
  double explained_by_two;  ///< of the variance; 0.75 of a uniform distribution
};
constexpr ModesLimits of_samples = {40, 0.05, 0.10, 1, 0.85};
constexpr ModesLimits of_few = {8, 0, 0, 3, 0.95};
constexpr double apart = 1.1;  // high / low

std::optional<Modes> find_modes(std::vector<double> values, const ModesLimits& limits) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.size() < limits.least) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto cut =
      static_cast<std::ptrdiff_t>(limits.outliers * static_cast<double>(values.size()));
  const std::vector<double> kept(values.begin() + cut, values.end() - cut);
  const auto n = static_cast<double>(kept.size());
  // On logarithms, so that a mode's width is in proportion.
  std::vector<double> logs;
  for (const auto value : kept) logs.push_back(std::log(value));
  const auto mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double variance = 0;
  for (const auto log : logs) variance += (log - mean) * (log - mean) / n;
  double best = 0;
  std::size_t split = 0;
  double below = 0;  // the sum of all before i
  for (std::size_t i = 1; i < logs.size(); ++i) {
    below += logs[i - 1];
    const auto share = static_cast<double>(i) / n;
    if (share < limits.least_share || share > 1 - limits.least_share) continue;
    if (std::min(i, logs.size() - i) < limits.least_count) continue;
    const auto difference = (below - share * n * mean) / n;
    const auto between = difference * difference / (share * (1 - share));
    if (between > best) std::tie(best, split) = std::pair(between, i);
  }
  if (variance <= 0 || best < limits.explained_by_two * variance) return std::nullopt;
  const auto at = kept.begin() + static_cast<std::ptrdiff_t>(split);
  const Modes modes{median({kept.begin(), at}), median({at, kept.end()}),
                    1 - static_cast<double>(split) / n};
  return modes.high >= apart * modes.low ? std::optional(modes) : std::nullopt;
}

}  // namespace

std::optional<Modes> two_modes_of(std::vector<double> values) {
  return find_modes(std::move(values), of_samples);
}

std::optional<Modes> two_modes_of_few(std::vector<double> values) {
  const auto& limits = values.size() < of_samples.least ? of_few : of_samples;
  return find_modes(std::move(values), limits);
}

}  // namespace ucxbench
