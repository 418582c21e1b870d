#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The quantiles that `values` supports: p90 from 10 values on, p99 from 100, p999 from 1000.
///
/// `step` is by how much a value moves at once, in its unit; 0: not known. Values that are one
/// reading of such a clock are taken as spread evenly over the step around it (the median of
/// grouped data, Yule 1911), so that a change below a step moves the quantiles, by how many samples
/// have the one reading and how many the next. A value that no other has stays what it is. Minimum
/// and maximum are the readings themselves, known to a step.
Quantiles quantiles_of(std::vector<double> values, double step = 0);

/// Quantiles over all of `values`, and at most `keep` of them, evenly spread in run order.
Samples make_samples(std::vector<double> values, std::size_t keep, double step = 0);

/// Adds to what a launch's record has of each pair of ranks (LaunchRecord::workload, "pairs") the
/// median of each one's rates, by sender and receiver.
void add_pair_medians(LaunchRecord& record,
                      const std::map<std::pair<int, int>, std::vector<double>>& GBps);

}  // namespace ucxbench
