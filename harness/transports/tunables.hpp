#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/launch/environment.hpp"

namespace ucxbench {

/// A setting of UCX that may change how fast messages are, with the values that `tune` tries.
struct Tunable {
  /// Without "UCX_"; several that are set together are separated by commas, as are their values.
  std::string_view settings;
  std::string_view transport;  ///< that it applies to: "tcp", "shm", …; empty: any
  std::string_view first;      ///< first version of UCX that has it; empty: 1.13 or older
  std::string_view last;       ///< last version; empty: the newest
  std::string_view values;     ///< separated by blanks, without the default where it is known
};

/// All of them, the more promising ones first.
std::span<const Tunable> tunables();

/// What `tune` tries with this version ("1.22.0") and these transports ("tcp", "shm"; "auto" stands
/// for all): one candidate for each value, "UCX_RNDV_THRESH" → "64k".
std::vector<Variables> tuning_candidates(std::string_view version,
                                         const std::vector<std::string>& transports);

}  // namespace ucxbench
