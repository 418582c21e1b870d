#pragma once

#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Puts into a row of Case::limits what the pairs of its class reached, which stand in Case::pairs:
/// `min_GBps` and `p50_GBps` of their medians, and the interval over launches of the latter.
void put_class_rates(const Case& of, const std::vector<const Json*>& pairs, Json& row);

}  // namespace ucxbench
