#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// What a setting is of.
enum class Lever {
  net_devices,  ///< UCX_NET_DEVICES of a rank
  cpus,         ///< the CPUs of a rank
  transports,   ///< UCX_TLS
  rendezvous,   ///< UCX_RNDV_THRESH
  pool,         ///< a pool of GPU memory
};

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

/// A finding, and what ends it.
struct AdvisedSetting {
  std::string rule, subject, evidence;
  std::string setting;  ///< "UCX_NET_DEVICES=ib2:1"; empty: no setting does
  std::string next;     ///< what the rule says
};

/// Between the pairs of a class, "NV2": their median, GB/s.
struct ClassBandwidth {
  std::string path_class;
  std::size_t pairs = 0;
  double p50_GBps = 0;
};

struct Advice {
  std::string host;  ///< of the ranks; empty: of a topology alone
  Graph graph;
  std::vector<AdvisedRank> ranks;          ///< of that host, ascending
  std::size_t elsewhere = 0;               ///< ranks of other hosts, whose topology is not known
  std::map<std::string, std::string> ucx;  ///< for all ranks: UCX_TLS, UCX_RNDV_THRESH
  std::vector<AdvisedSetting> settings;
  std::vector<std::string> answers;  ///< of answers_of(): what limits, what was the fastest
  bool nvlink = false;               ///< two of the ranks' GPUs have one
  bool infiniband = false;           ///< ranks have a NIC
  std::optional<std::uint64_t> pool_bytes;
  std::string measured;                 ///< what `classes` are of; empty: nothing was measured
  std::vector<ClassBandwidth> classes;  ///< of the largest messages, by the fastest transports
};

/// By a topology alone: a rank for each of these GPUs, in their order; for each GPU that there is
/// if none are given; without GPUs for each NUMA node.
Advice advise(const Graph& topology, std::vector<std::size_t> gpus = {});

/// By a run's findings and its topology, or `topology` instead of that. A run without ranks, as
/// doctor's, is taken as a topology alone. Throws Failure(Exit::usage) where there is no topology,
/// and where a rank's GPU is not in it.
Advice advise(Result run, const std::optional<Graph>& topology);

/// The topology that a run was on. Throws Failure(Exit::usage) if it has none.
Graph topology_of(const Result& run);

/// Fills `measured` and `classes` from a run; advise() does.
void add_bandwidths(const Result& run, Advice& advice);

/// The median over classes of their bandwidth, GB/s; empty where nothing was measured.
std::optional<double> bandwidth_of_all_GBps(const Advice& advice);

/// What a run measured between ranks, for every source, destination, memory and size:
/// {run, host, unit, bandwidths: [{src, dst, src_device, dst_device, class, memory, transports,
/// bytes, p25_GBps, p50_GBps, p75_GBps}]}.
Json bandwidths_of(const Result& run, const Advice& advice);

}  // namespace ucxbench
