#pragma once

#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Which ranks have which version, where they have several: "1.13.1 (rank 0 on node0), 1.22.0
/// (ranks 1-3 on node1)"; else empty.
std::string several_versions(const Json& ucx);

/// That, and what hosts with the first one's version lack of it: "1.22.0, without cma on node1";
/// empty where all have the same UCX, as far as it is known.
std::string differing_ucx(const Result& result);

/// That, or the one version that all have; "-" where it is not known.
std::string ucx_in_words(const Result& result);

}  // namespace ucxbench
