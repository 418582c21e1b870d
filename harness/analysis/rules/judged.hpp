#pragma once

// What several rules need of a run.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/used.hpp"
#include "harness/analysis/spoiled_sets.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/flaws.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {

/// A rank, and where it is in the topology.
struct PlacedRank {
  int rank = 0;
  std::string host;
  std::string on_host;                  ///< " on node1", where the run has several
  std::vector<int> cpus;                ///< ascending; empty: not known
  std::optional<std::size_t> gpu;       ///< its node, where the topology has it
  std::vector<std::size_t> bound_nics;  ///< the NICs that its UCX_NET_DEVICES names

  /// "rank 3", "rank 3 (GPU3)", of several hosts "rank 3 (GPU3) on node1".
  std::string name(const Graph& graph) const;
};

struct Judged {
  const Result& result;
  std::vector<Block> blocks;
  /// Without what is no measurement of its times (is_time_sliced), without `impossible`, and of
  /// `no_bytes` with those alone whose other pairs still say something: matrices.
  std::vector<Block> timed;
  Graph graph;                    ///< of all hosts (wired_hosts.hpp); without nodes if unknown
  std::vector<PlacedRank> ranks;  ///< all of the run's
  Used used;
  /// Cases with figures that no machine gives, and what rule above-limit says of them. Nothing is
  /// concluded from any figure of these.
  std::vector<std::pair<const Case*, Finding>> impossible{};
  std::map<const Case*, std::string> no_bytes{};  ///< where a case moved nothing (flaws.hpp)
  std::vector<SpoiledSet> spoiled{};              ///< sets from which no advice follows

  explicit Judged(const Result& of);

  bool labelled(const std::string& label) const;  ///< the machine
  const PlacedRank* rank(int number) const;       ///< nullptr when there is none
  /// Nor where another case of the run had it on another host: no more than that is known.
  const PlacedRank* rank(const Case& of, int number) const;

  /// Why a case's figures do not count, by result/flaws.hpp and because they are impossible.
  std::optional<Flaw> flaw_of(const Case& of) const;
  /// Whether nothing ranks it among others, or takes its figures for figures: all flaws but that it
  /// was interrupted, which comes after all others.
  bool leaves_out(const Case& of) const;
  /// What is said of that: of an impossible figure the first evidence.
  std::string in_words(Flaw flaw, const Case& of) const;

 private:
  const Finding* impossibility_of(const Case& of) const;  ///< nullptr when there is none
};

/// Those of the run file, as they are there.
std::vector<Json> hosts_of(const Judged& run);

/// Whether a flag of that name is there, and true.
bool is_set(const Json& object, const char* name);

/// The nodes of the NICs over which the sender's InfiniBand messages went, as far as the counters
/// tell, else the lanes; empty where ib carried nothing.
std::vector<std::size_t> ib_nics(const Judged& run, const Case& of, const LaunchRecord& record);

/// "8 B to 1 MiB", or the one size; of a workload "the runs of 2 ranks to 4 ranks".
std::string sizes_of(const std::vector<const Case*>& cases);

/// Findings of blocks that differ only in their transport set become one, "… over 3 sets": the
/// costliest, which names its own.
std::vector<Finding> once_for_sets(std::vector<Finding> findings);

/// The same run as those rules see it that speak of UCX: without blocks of other back ends.
Judged of_ucx_alone(const Judged& run);

/// What a rule says of a run: nothing of what the run did not use, by the rule and by each of its
/// findings.
std::vector<Finding> said_by(const Rule& rule, const Judged& run);

/// The value of a metric's median, if it was measured.
std::optional<double> p50_of(const Case& of, const std::string& metric);

/// Whether a metric of `slow` may as well be as large as that of `fast`, by the intervals of both.
bool may_be_alike(const Case& slow, const Case& fast, const std::string& metric);

}  // namespace ucxbench
