#pragma once

#include <optional>
#include <vector>

namespace ucxbench {

/// Two values around which samples lie, with a gap between.
struct Modes {
  double low = 0;
  double high = 0;
  double share_high = 0;  ///< of the samples
};

/// Whether positive samples have two modes: the best cut in two, on logarithms and without the 5 %
/// at either end, explains at least 85 % of the variance (of a normal distribution it explains
/// 64 %, of a uniform one 75 %), either part has 10 % of them at least, and their medians are 10 %
/// apart. Empty below 40 samples.
std::optional<Modes> two_modes_of(std::vector<double> values);

/// The same of 8 to 39 values, as the medians of launches are: none is left out, the cut explains
/// at least 95 %, and either part has three. Of ten values from a normal distribution 0.05 % pass
/// for two modes by their shape, of a uniform one 0.5 %. From 40 values on as above.
std::optional<Modes> two_modes_of_few(std::vector<double> values);

}  // namespace ucxbench
