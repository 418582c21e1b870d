#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/limits/gpu_pairs.hpp"
#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// Gives links of `graph` the most that p2p of this run has seen on them while one pair alone sent
/// (medians of pairs, by NVLink, PCIe or adapters; not by way of host memory, where processors copy
/// and no link is the limit), with who that was. A rate above the peak of its path is an error, and
/// left out. It is no upper bound: two pairs may draw more from a link than one. What was there
/// before is forgotten.
void calibrate_links(Graph& graph, const Result& result);

/// What a calibrated figure lets a pair reach.
struct CalibratedLimit {
  std::size_t pair = 0;                ///< in Case::pairs
  double GBps = 0;                     ///< alone
  std::optional<double> share_GBps{};  ///< fair share of it, where all pairs were under way
  bool complete = true;                ///< false: at most this
  std::string pair_class{}, path{}, resource{}, detail{};
};

/// `calibrated_GBps` and `calibrated_share_GBps` of pairs, and in `Case::limits` a row for those of
/// one class and path, with medians over its pairs.
void add_calibrated(Case& of, const std::vector<CalibratedLimit>& limits);

/// `exchange.calibrated_GBps` and `.calibrated_by`: what all ranks together can reach at most.
void add_calibrated_exchange(Case& of, const std::vector<Flow>& flows, const Limits& limits);

/// The same of pairs of GPUs by calibrated links. A limit that a pair's own rate in this very case
/// is the source of would say 100 %: it is left out.
void add_calibrated_links(Case& of, const std::vector<GpuPair>& pairs, const Graph& graph,
                          bool all);

}  // namespace ucxbench
