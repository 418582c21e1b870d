#pragma once

#include <string_view>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// The graph of a machine as hwloc exports it (lstopo machine.xml; of hwloc 1, 2 and 3): sockets,
/// NUMA nodes, and the PCI tree down to GPUs and NICs if it was saved with I/O devices; NVLinks if
/// that hwloc had NVML. hwloc itself is not asked to load it: 2.9 refuses files of version 3, and
/// of 2000 files with one random damage 19 crash it. PCIe speeds are those at the time of saving.
/// Throws Failure(Exit::usage).
Graph graph_from_hwloc_xml(std::string_view xml);

}  // namespace ucxbench
