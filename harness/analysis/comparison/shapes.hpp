#pragma once

#include <vector>

#include "harness/analysis/comparison/weigh.hpp"

namespace ucxbench {

/// Looks at each series in the order of its launches, as Placements::matched has them. One whose
/// medians go one way (Mann-Kendall, corrected by Holm at `alpha` for all series of both runs,
/// those of single pairs by themselves, and by more than its floor) was not measured in one state
/// of the machine: its verdict becomes inconclusive, unless it would be the same after a drift of
/// as much (explains()), or both runs took turns (`in_turns`) and go the same way, so that it met
/// both alike. Two modes of launches are named; the test is right
/// about them, a median between them says little.
void look_at_shapes(std::vector<Row>& rows, double alpha, bool in_turns);

/// Puts it behind what is said of the series already.
void add_remark(SeriesChange& series, const std::string& remark);

/// nullptr when there is none.
const Case* find_case(const Result& result, const std::string& key);

}  // namespace ucxbench
