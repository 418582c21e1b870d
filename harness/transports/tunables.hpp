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
  std::string_view transport;  ///< that must be in use: "tcp", "shm", …; empty: any
  std::string_view first;      ///< version of UCX that knows it; empty: 1.13, or an older one
  std::string_view last;       ///< likewise; empty: the newest
  std::string_view values;     ///< separated by blanks; no default among them, where it is known
};

/// Every one, the more promising first.
std::span<const Tunable> tunables();

/// What `tune` tries with this version ("1.22.0") and these transports ("tcp", "shm"; "auto" is any
/// of them): one candidate for each value, "UCX_RNDV_THRESH" → "64k".
std::vector<Variables> tuning_candidates(std::string_view version,
                                         const std::vector<std::string>& transports);

}  // namespace ucxbench
