#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Where a run stands among others: its stream, runs of which may be held against each other, and
/// in that its segment, which ends where the environment decides otherwise.
struct StreamPlace {
  std::string machine;
  std::string branch;                ///< of the tag, empty without
  std::string what;                  ///< asked_in_words
  std::string side;                  ///< of `ab`: "base", "new"; else empty
  std::size_t segment = 0;           ///< counted from 0 in its stream
  std::vector<std::string> differs;  ///< environment_differences from the run before in its stream
};

/// Of runs in the order in which they began. A segment ends where deciding_differences from what is
/// known of it so far are found: what a run does not know ends none.
std::vector<StreamPlace> places_in_streams(std::span<const Result> runs);

}  // namespace ucxbench
