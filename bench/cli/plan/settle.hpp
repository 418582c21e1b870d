#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/plan/near.hpp"
#include "bench/cli/plan/place.hpp"
#include "bench/cli/plan/plan.hpp"
#include "harness/launch/environment.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"
#include "harness/run/probe.hpp"

namespace ucxbench {

/// What another host of a run has said of itself.
struct OtherHost {
  std::string name;
  Probe found;
};

/// All of this machine that decides what can run, looked at once.
struct Machine {
  Probe found;
  std::vector<UcxConf> configuration;
  Wiring wiring;
  std::vector<int> cpus;  ///< that this process may use
  /// The network devices towards the other hosts of a --listen run; empty where all ranks are here.
  std::optional<std::string> remote_route{};
  std::vector<Seat> seats{};  ///< of the hosts; empty until the others are there
  std::vector<OtherHost> others{};
  int hosts = 0;                  ///< of different names; 0 until the others are there
  bool several_machines = false;  ///< these are
};

/// As far as `plans` need it. Throws Failure(Exit::cannot_run) when UCX fails.
Machine look_at_machine(const std::vector<Plan>& plans);

/// Refuses what these plans cannot be on this machine, and finds the sets of --ablate. Throws
/// Failure(Exit::usage).
void check_plans(std::vector<Plan>& plans, const Machine& machine);

/// Settles what was asked against what the machine has: each plan's sets x memories x numbers of
/// ranks, in this order, with their environment, and why some cannot run here. Their cases, which
/// stand in the order of the plans, and how the choices were made go into `result`. Nothing is
/// started. Throws Failure(Exit::usage), also where two cases would have one key.
std::vector<LaunchPlan> settle(std::vector<Plan> plans, const Machine& machine, Result& result);

}  // namespace ucxbench
