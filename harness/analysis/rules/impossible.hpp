#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/rules/judged.hpp"

namespace ucxbench {

/// What rule above-limit says of the timed cases of a run, and of which case it says it: a pair's
/// median above the peak of its path, a rate above physical_limit(), a time or a rate below what
/// can be, and parts of a workload that are more than their whole.
std::vector<std::pair<const Case*, Finding>> impossible_in(const Judged& run);

/// "pingpong tag, host to host, over tcp, 8 B".
std::string subject_of(const Block& block, const Case& of);

/// " (3 such pairs)"; empty of one.
std::string and_more(std::size_t pairs);

}  // namespace ucxbench
