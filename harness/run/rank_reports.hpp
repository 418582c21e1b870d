#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/launch/hub.hpp"
#include "harness/result/result.hpp"
#include "harness/result/run_file.hpp"
#include "harness/run/cpu_room.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

/// Puts what the ranks of launches report into a run and its file.
class RankReports {
 public:
  RankReports(const Result& result, RunFile& file, HostNames hosts);

  /// Takes what a rank has put under a key "report/…", of which RankContext (benchmark.hpp) makes
  /// the values. Returns the case that this launch has measured now, each once in a launch;
  /// otherwise nullptr.
  const Case* take(const LaunchPlan& plan, const std::string& key, const Hub::Bytes& value);

  /// From now on it is another launch whose times count.
  void begin_launch();

  /// An event "launch_time" of the launch that has just ended: `start_s` from begin_launch until
  /// the last rank of this host was a process that knew what to do, `meet_s` from then until the
  /// last rank was connected, `measure_s` until the last case was reported, `end_s` until now. Null
  /// where ranks did not say.
  Json launch_time(const LaunchPlan& plan, int launch) const;

  /// Of the launch under way: which ranks have which UCX, where they have several versions.
  Json ucx_versions() const;

  /// Exit::wrong_data once a payload was wrong.
  Exit exit() const { return exit_; }

 private:
  const Case* take_case(Json report);
  void look_at_cpus(const LaunchPlan& plan, const Json& rank, const std::string& machine);
  void drop_known(const Case& of, int launch, Json& records);

  const Result& result_;
  RunFile& file_;
  HostNames hosts_;
  std::uint64_t begin_ns_ = 0, started_ns_ = 0, met_ns_ = 0, measured_ns_ = 0;  ///< 0: not yet
  std::map<int, std::pair<std::string, std::string>> ucx_;  ///< version and host, by rank
  Exit exit_ = Exit::done;
  CpuRoom cpus_;                               ///< of the launch's ranks
  const Case* ended_case_ = nullptr;           ///< in which the user has ended the run
  std::set<std::pair<int, int>> known_pairs_;  ///< of it and its launch, src and dst
};

}  // namespace ucxbench
