#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace ucxbench {

/// What each of several ends (hosts, or ranks) reaches towards each other one.
class RateTable {
 public:
  explicit RateTable(std::size_t ends)
      : ends_(ends), rates_(ends * ends, std::numeric_limits<double>::quiet_NaN()) {}

  std::size_t ends() const { return ends_; }
  double& at(std::size_t from, std::size_t to) { return rates_[from * ends_ + to]; }
  /// Above 0, in any unit, or as a share of what is possible; NaN: not measured.
  double at(std::size_t from, std::size_t to) const { return rates_[from * ends_ + to]; }

 private:
  std::size_t ends_;
  std::vector<double> rates_;
};

/// One direction of one end.
struct EndRate {
  double of_median = 1;  ///< of the median end, what this one reaches by itself
  double z = 0;          ///< how far that is from the median end's, in robust standard deviations
  bool slow = false;
  bool known = false;  ///< something was measured
};

/// A pair that is slower than its two ends explain.
struct SlowLink {
  std::size_t from = 0, to = 0;
  double of_expected = 1;  ///< of what its ends reach with others
  double z = 0;
};

struct Outliers {
  std::vector<EndRate> sends, receives;  ///< by end
  std::vector<SlowLink> links;           ///< the slowest first
};

/// An outlier is further from the median than this in modified z-scores, 0.6745 (x − median) / MAD
/// (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993), and at least a fifth slower.
/// Among many more is asked: as far as one is in at most one of a hundred sweeps without any, if
/// rates are log-normal.
inline constexpr double outlier_z = 3.5;
inline constexpr double outlier_rate = 0.8;
/// Of logarithms of rates: others that are closer together than this, by luck or because they are
/// few, count as that far apart.
inline constexpr double least_scatter = 0.02;

/// How far from the median an outlier is at least, of so many.
double outlier_bound(std::size_t of);

/// Tells slow ends from slow links. The logarithm of a rate is taken as what its sender gives, and
/// what its receiver gives, added; medians estimate both, so that a slow end does not lower those
/// that send to it. Ends that explain the most slow rates are named first, and the others are then
/// judged without them. Right while less than half of the ends, and of an end's links, are slow for
/// another reason. Of two ends, or where nothing was measured, none is slow.
///
/// `scatter`: of the logarithms of what one pair reaches from one stream to the next, as a standard
/// deviation; where the rates are closer together that is luck.
Outliers find_outliers(const RateTable& rates, double scatter = least_scatter);

}  // namespace ucxbench
