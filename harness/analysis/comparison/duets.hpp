#pragma once

#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The duets of one metric of a case that both runs have.
struct DuetValues {
  /// Of each duet, in launch order, the logarithm of new/base: of each quad's four blocks, then the
  /// trimmed mean of the quads, and of the pairs of ranks their mean. Duets, never quads, are what
  /// is independent.
  std::vector<double> logs{};
  std::vector<double> base{}, now{};  ///< medians over the same duets' blocks
  std::vector<int> launches{};        ///< of each, ascending
};

/// Those of the launches before this one.
DuetValues first_duets(const DuetValues& duets, int launch);

/// Empty where the runs measured no duets with each other.
DuetValues duets_of(const Case& base, const Case& now, const std::string& metric);

}  // namespace ucxbench
