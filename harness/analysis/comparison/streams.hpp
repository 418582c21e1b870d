#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Where a run stands among others: its stream, runs of which may be held against each other, and
/// in that its segment: the runs of one environment, which goes on where that environment returns.
struct StreamPlace {
  std::string machine;
  std::string branch;                ///< of the tag, empty without
  std::string what;                  ///< asked_in_words
  std::string side;                  ///< of `ab`: "base", "new"; else empty
  std::size_t segment = 0;           ///< counted from 0 in its stream, by its first run
  std::vector<std::string> differs;  ///< environment_differences from the run before in its stream
};

/// Of runs in the order in which they began. A run is of another segment where deciding_differences
/// from what is known of this one so far are found: what a run does not know makes none.
std::vector<StreamPlace> places_in_streams(std::span<const Result> runs);

}  // namespace ucxbench
