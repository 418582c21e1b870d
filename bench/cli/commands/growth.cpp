#include "bench/cli/commands/growth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_points = 400;  // 79,800 slopes

}  // namespace

std::optional<Growth> growth_of(std::vector<double> values) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4));
  if (values.size() < least_for_growth) return std::nullopt;
  const auto at = even_choice(values.size(), most_points);
  std::vector<double> slopes;
  for (std::size_t later = 1; later < at.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      slopes.push_back((values[at[later]] - values[at[earlier]]) /
                       static_cast<double>(at[later] - at[earlier]));
    }
  }
  std::ranges::sort(slopes);
  const auto points = static_cast<double>(at.size());
  const double spread = 1.96 * std::sqrt(points * (points - 1) * (2 * points + 5) / 18);
  const double rank = (static_cast<double>(slopes.size()) - spread) / 2;
  const auto lower = static_cast<std::size_t>(std::max(0.0, rank));
  const auto length = static_cast<double>(values.size() - 1);
  return Growth{quantile_of_sorted(slopes, 0.5) * length, slopes[lower] * length};
}

}  // namespace ucxbench
