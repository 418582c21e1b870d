#pragma once

#include <pugixml.hpp>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// Adds the NVLinks that an hwloc with NVML recorded: its matrix NVLinkBandwidth between GPUs and
/// NVSwitches, in MB/s. `graph` has the GPUs. Throws Failure(Exit::usage) for a damaged matrix.
void add_hwloc_nvlinks(Graph& graph, pugi::xml_node topology);

}  // namespace ucxbench
