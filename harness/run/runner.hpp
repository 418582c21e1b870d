#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/duet.hpp"
#include "harness/result/result.hpp"
#include "harness/result/run_file.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/launch_plan.hpp"
#include "harness/run/place.hpp"

namespace ucxbench {

/// How often and how long a run launches.
struct Schedule {
  int launches = usual_launches;
  std::optional<int> only_launch;  ///< of these, counted from 0; empty: all
  /// From the first launch on: one that, taking as long as the last of its plan, would end later is
  /// left out. Empty: no limit.
  std::optional<std::chrono::nanoseconds> max_time;
  bool canary = false;  ///< measure the host itself before each round of launches
  /// A launch whose ranks did not reach each other ends its plan alone; of a tournament of ranks
  /// the turns after it are played. What it was is in run["lost_launches"], and no failure of the
  /// run.
  bool goes_on = false;
  std::string duet;  ///< the memory of a run that is one side of ab's; empty: of none
};

/// Learns how far a run is; called between timed regions only.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void launch_begins(const LaunchPlan& plan, int launch, int launches) = 0;
  virtual void case_done(const Case& measured, std::size_t done, std::size_t total) = 0;
  virtual void cannot_run(const LaunchPlan& plan) = 0;
};

/// What runs a launch to its end: run_launch, or in a test what stands for it.
using Execute = std::function<LaunchOutcome(const Launch&)>;

/// What the other machines of a run measure of themselves, where ranks of theirs are, while this
/// one measures the same.
struct Elsewhere {
  enum class What { memory_copy, processors };
  std::function<void(const LaunchPlan& plan, What what)> begin;
  std::function<std::map<std::string, Json>()> end;  ///< by host, of those that answered
};

/// What a run has beside its plans.
struct Around {
  DuetSupervisor* duet = nullptr;  ///< of a run that is one side of ab's
  HostNames hosts{};               ///< by which the other hosts are called already
  std::optional<Elsewhere> elsewhere{};
};

/// Runs every launch of every plan: A B C, C B A, …, so that a slow drift of the machine meets all
/// alike; they may be of several benchmarks. A plan that turns out not to run here becomes
/// unavailable. `result.cases` are planned before and have their end state after; `result.run` says
/// how it ended. `file` is that of `result`: what was
/// measured is in its journal after each case of each launch, and the whole is left to the caller
/// to write. Returns the worst of all launches. Throws what RunFile::begin throws.
Exit measure(Result& result, std::vector<LaunchPlan>& plans, const Schedule& schedule,
             RunFile& file, const Execute& execute, RunObserver& observer, Around around = {});

}  // namespace ucxbench
