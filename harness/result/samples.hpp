#pragma once

#include <cstddef>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The quantiles that `values` supports: p90 from 10 values on, p99 from 100, p999 from 1000.
Quantiles quantiles_of(std::vector<double> values);

/// Quantiles over all of `values`, and at most `keep` of them, evenly spread in run order.
Samples make_samples(std::vector<double> values, std::size_t keep);

}  // namespace ucxbench
