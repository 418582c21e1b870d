#include "harness/analysis/rules/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/core/statistics.hpp"

namespace ucxbench {

std::optional<Modes> two_modes_of(std::vector<double> values) {
  constexpr std::size_t least = 40;          // samples: fewer group by chance
  constexpr double outliers = 0.05;          // left out at either end
  constexpr double least_share = 0.10;       // of either mode
  constexpr double explained_by_two = 0.85;  // of the variance; 0.75 of a uniform distribution
  constexpr double apart = 1.1;              // high / low
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.size() < least) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(outliers * static_cast<double>(values.size()));
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
    if (share < least_share || share > 1 - least_share) continue;
    const auto difference = (below - share * n * mean) / n;
    const auto between = difference * difference / (share * (1 - share));
    if (between > best) std::tie(best, split) = std::pair(between, i);
  }
  if (variance <= 0 || best < explained_by_two * variance) return std::nullopt;
  const auto at = kept.begin() + static_cast<std::ptrdiff_t>(split);
  const Modes modes{median({kept.begin(), at}), median({at, kept.end()}),
                    1 - static_cast<double>(split) / n};
  return modes.high >= apart * modes.low ? std::optional(modes) : std::nullopt;
}

}  // namespace ucxbench
