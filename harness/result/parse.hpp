#pragma once

#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// By case.
using Launches = std::vector<std::vector<LaunchRecord>>;

/// Of a run file's JSON, from which `launches` may have been left out. Throws std::exception.
Result result_from(Json json, Launches launches);

}  // namespace ucxbench
