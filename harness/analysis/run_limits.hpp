#pragma once

#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// Says of a case between GPUs of one host what its links let it reach. `graph` is that host's,
/// `of` one of the cases of `result`, with its pairs. A pair gets
///
/// - `class`, as the topology has it, and `path`, the transport that carried it, if it was one;
/// - `limit_GBps` of the links that this transport takes, alone on them: NVLinks or else PCIe
///   (nvlink), the nearest NICs if these are the ones that it used (ib), by way of host memory
///   (tcp, shm); null where that is not known. More than this is impossible.
/// - `share_GBps`, where all pairs were under way at once: its fair share of NVLinks or else PCIe.
///
/// `Case::limits` gets a row for those of one class, path and limit, with `expected_GBps`, the
/// limit of NVLinks or else PCIe. Of ranks without a GPU, or on other hosts, nothing is said.
void add_limits(Case& of, const Result& result, const Graph& graph);

}  // namespace ucxbench
