#pragma once

#include <string>
#include <vector>

#include "harness/report/view.hpp"

namespace ucxbench {

/// One table of a block, for every format that has tables.
struct Section {
  std::string title;  ///< empty for the block's first
  Grid grid;
};

/// The tables of a block with something measured: of a ping-pong by size, of first messages by
/// size and number of peers, of p2p a matrix for each size, of a workload by the number of ranks.
std::vector<Section> sections_of(const Block& block);

}  // namespace ucxbench
