#pragma once

#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What differs between the environments of two runs: "UCX 1.13.1 -> 1.22.0", "kernel …", settings
/// of the kernel, libraries that the ranks had loaded, variables such as LD_PRELOAD, and inherited
/// UCX_* settings, "UCX_RNDV_THRESH not set -> 8192", and what was asked for and set otherwise
/// (set_up.hpp). Unknown is "?"; what a run of an older version does not have at all is no
/// difference.
std::vector<std::string> environment_differences(const Result& base, const Result& now);

/// The same, after what differs between the programs: commit, compiler, flags. In the end, what UCX
/// warned of on one side alone: "UCX says in new alone: WARN unused env variable: UCX_…".
std::vector<std::string> differences_of(const Result& base, const Result& now);

/// Of a run, "UCX 1.13.1, driver ?, …".
std::string environment_in_words(const Result& result);

/// What decides whether two runs may be compared; empty for what is not known.
struct DecidingEnvironment {
  std::string ucx;       ///< major and minor version
  std::string driver;    ///< the GPU driver's major version
  std::string topology;  ///< hash
};

DecidingEnvironment deciding_environment(const Result& result);

/// Those because of which a difference in speed is none of the program measured. What one of the
/// two does not know is no difference.
std::vector<std::string> deciding_differences(const DecidingEnvironment& base,
                                              const DecidingEnvironment& now);

/// "?" where the file does not say.
std::string machine_of(const Result& result);

}  // namespace ucxbench
