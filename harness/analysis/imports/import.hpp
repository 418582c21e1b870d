#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// The topology of another machine, from what nvidia-smi topo -m printed, hwloc XML (lstopo x.xml),
/// NCCL's XML (NCCL_TOPO_DUMP_FILE) or ucx-bench topo --format json; which of them is seen by the
/// content. Throws Failure(Exit::usage) with the file's name, what was wrong and what would be
/// right; also for files above 16 MiB, which no machine's topology fills. What is taken although it
/// is doubtful, or is left out, is in the graph's warnings.
Graph import_topology(const std::filesystem::path& file);

/// The same of a text.
Graph import_topology_text(std::string_view text);

/// Of a text that holds what `nvidia-smi topo -m` printed, in any layout that it has had:
/// - cells of X, NV1 …, PIX, PXB, PHB, NODE, SYS, and the older SOC and PSB; tabs or blanks;
/// - the names underlined by ANSI escapes;
/// - columns CPU Affinity, NUMA Affinity, GPU NUMA ID, some or none of them, or a block of lines
///   with the CPU affinity below the matrix;
/// - NICs by name or as NIC0 … with a legend;
/// - rows of NICs, or of some devices, missing;
/// - anything before, between and after, such as prose, a code fence, or the list of nvidia-smi -L,
///   which names the models.
/// PCIe's speeds are not in it. NVLink's follow from the models, where these are there.
Graph graph_from_matrix(std::string_view text);

/// Of the XML that NCCL writes. It does not tell host bridges apart: devices of one processor are
/// PHB, as NCCL has it.
Graph graph_from_nccl_xml(std::string_view xml);

}  // namespace ucxbench
