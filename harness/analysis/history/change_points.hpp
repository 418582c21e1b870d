#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ucxbench {

/// Where the level of a series of runs changed.
struct ChangePoint {
  std::size_t index = 0;     ///< of the first value at the new level
  double before = 0;         ///< median since the change before it
  double after = 0;          ///< median until the change after it
  double p = 1;              ///< when it was found, corrected for the places tried
  bool provisional = false;  ///< fewer than three values follow: it may still move or vanish
};

/// E-divisive's statistic (Matteson and James, 2014) of every split of `window` into the first 2,
/// 3, … values and the others, at least 2.
std::vector<double> split_energies(std::span<const double> window);

/// The changes in a series of finite values in the order of its runs. The significance is Student's
/// t test, as in Apache Otava (formerly Hunter; Fleming et al., 2023). Two things differ. Otava
/// looks at a whole history at once, so that a point may move or vanish later; here every run is
/// looked at once, when it is the newest, and what was found then stays. And p is corrected for the
/// number of places tried, since the best of them is tested.
///
/// A change needs p at most 0.0001 and a difference of the medians on both sides above 0.5 % and
/// above twice the standard deviation within them. One value at a new level is a spike, two or
/// three are provisional; from four on (the first and three that follow) the place is final: it
/// depends on nothing that comes later.
std::vector<ChangePoint> change_points(std::span<const double> values);

}  // namespace ucxbench
