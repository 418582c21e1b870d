#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/decisions.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// A rule whose findings a setting can end.
struct Remedy {
  std::string_view rule;
  Lever lever;
};
std::span<const Remedy> remedies();

struct AdvisedRank {
  int rank = 0;
  std::optional<std::size_t> gpu{}, nic{};  ///< nodes of the topology
  std::vector<int> cpus{};                  ///< ascending; empty: nothing is known
  std::string net_devices{};                ///< UCX_NET_DEVICES; empty: left to UCX
};

/// A finding, and the advised setting that it speaks for.
struct AdvisedSetting {
  std::string rule, subject, evidence;
  std::string setting;  ///< "UCX_NET_DEVICES=ib2:1"; empty: none is advised
  std::string next;     ///< what the rule says
};

/// Between the pairs of ranks that have the same class, "NV2", of path, and are within a host or
/// not: their median, GB/s.
struct ClassBandwidth {
  std::string path_class;  ///< of GPUs of one host; empty: there is none
  std::size_t pairs = 0;
  double p50_GBps = 0;
  bool between_hosts = false;
  std::string memory{};                ///< "cuda", "cuda to host"
  std::optional<Interval> interval{};  ///< of the pairs' median in each launch
};

struct Advice {
  std::string host;  ///< of the ranks; empty: of a topology alone
  Graph graph;
  std::vector<AdvisedRank> ranks;   ///< of that host, ascending
  std::size_t hosts = 1;            ///< that the run had
  std::size_t all_ranks = 0;        ///< on all of them
  std::vector<std::string> labels;  ///< of the cases that therefore advise nothing
  std::vector<SpoiledSet> spoiled;  ///< sets from which therefore nothing is advised
  std::vector<Decision> decisions;  ///< at most one of each lever; none of a topology alone
  std::vector<AdvisedSetting> settings;
  std::vector<std::string> answers;  ///< of answers_of(): what limits, what was the fastest
  /// "by tcp; labels: vm" of that case; empty where neither is known.
  std::string measured_how;
  std::string measured;                 ///< what `classes` are of; empty: nothing was measured
  std::vector<ClassBandwidth> classes;  ///< of the largest messages, by the fastest transports

  /// Null where nothing is said of it.
  const Decision* of(Lever lever) const;
  /// UCX_TLS and UCX_RNDV_THRESH, as far as they are advised for every job.
  std::map<std::string, std::string> ucx() const;
  /// Ranks have a NIC of their own.
  bool names_nics() const;
};

/// By a topology alone: a rank for each of these GPUs, in their order; for each GPU that there is
/// if none are given; without GPUs for each NUMA node.
Advice advise(const Graph& topology, std::vector<std::size_t> gpus = {});

/// By what a run decides (decisions.hpp), its findings and its topology, or `topology` instead of
/// that. A run all of whose cases have labels places no rank. Ranks get NICs where InfiniBand was
/// measured between hosts. A run without ranks, as doctor's, is taken as a topology alone. Throws
/// Failure(Exit::usage) where there is no topology, and where a rank's GPU is not in it.
Advice advise(Result run, const std::optional<Graph>& topology);

/// The topology that a run was on. Throws Failure(Exit::usage) if it has none.
Graph topology_of(const Result& run);

/// Fills `measured` and `classes` from a run; advise() does.
void add_bandwidths(const Judged& run, Advice& advice);

/// Of the network, GB/s: of the pairs between hosts alone; empty where none was measured.
std::optional<double> network_GBps(const Advice& advice);

/// What a run measured between ranks, for every source, destination, memory and size:
/// {run, host, unit, bandwidths: [{src, dst, src_device, dst_device, class, memory, transports,
/// carried_by, labels, bytes, p25_GBps, p50_GBps, p75_GBps, case}]}.
Json bandwidths_of(const Result& run, const Advice& advice);

}  // namespace ucxbench
