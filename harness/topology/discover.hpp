#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "harness/topology/graph.hpp"
#include "harness/topology/nvml.hpp"

namespace ucxbench {

/// The graph of this machine: sockets, NUMA nodes and the PCI tree from hwloc, PCIe links and ports
/// from sysfs, GPUs and NVLinks from NVML where there is a driver.
Graph discover();

/// What such a graph says of its source.
constexpr const char* discovered_source = "this machine";

/// What discover() adds to what hwloc found; for tests of machines that are not here.
void add_sysfs(Graph& graph, const std::filesystem::path& sys);
void add_nvml(Graph& graph, const std::vector<NvmlGpu>& gpus);

}  // namespace ucxbench
