#pragma once

#include <string>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// As import_topology(); prints what is doubtful of the file on stderr.
Graph imported(const std::string& file);

}  // namespace ucxbench
