#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Fills `sweep` of a matrix in which pairs of three hosts or more were measured one at a time or
/// in disjoint rounds, from its pairs' rates and limits: add_limits comes before. Else empties it.
///
/// {"against": "limit", or "median" where a pair's limit is not known: then shares are of the
/// median
///             of all pairs between hosts,
///  "hosts":  [{"host", "ranks", "pairs", "p50_GBps", "share": medians over its pairs with others,
///              "sends", "receives": of the median host, by itself (find_outliers), "z": the lower
///              of both, "slow": "sends", "receives", "sends and receives" or null}],
///  "rails":  [the same of each rank; with "rank", "rail": its number on its host, from 0, and
///             "devices" of its lanes to others; "slow" only where its host is not],
///  "links":  [{"from", "to", "p50_GBps", "share", "of_expected", "z"}], those that are slower than
///             their hosts explain}
///
/// Hosts and rails come slow ones first, then by z; links the slowest first.
void add_sweep(Case& of, const Result& result);

}  // namespace ucxbench
