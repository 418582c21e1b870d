#pragma once

#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// Says of every case that was measured what its machine lets it reach, by the topology in `result`
/// and what this run has calibrated: links of the topology get their calibrated capacity
/// (calibration.hpp) first. May be called again.
void add_limits(Result& result);

/// The same of one case of `result`: of pairs between host memories as host_limits.hpp says, of
/// pairs between GPUs of one host what its links let them reach. `graph` is that host's. Such a
/// pair gets
///
/// - `class`, as the topology has it, and `path`, the transport that carried it, if it was one;
/// - `limit_GBps` of the links that this transport takes, alone on them: NVLinks or else PCIe
///   (nvlink), the nearest NICs if these are the ones that it used (ib), by way of host memory
///   (tcp, shm); null where that is not known. More than this is impossible.
/// - `share_GBps`, where all pairs were under way at once: its fair share of NVLinks or else PCIe.
/// - `calibrated_GBps` and `calibrated_share_GBps`, of the links that its transport takes, as far
///   as they were calibrated by others. More than these is possible.
///
/// `Case::limits` gets a row for those of one class, path and limit, with `expected_GBps`, the
/// limit of NVLinks or else PCIe, and one for those with a calibrated limit. Of ranks without a
/// GPU, or on other hosts, nothing is said.
void add_limits(Case& of, const Result& result, const Graph& graph);

}  // namespace ucxbench
