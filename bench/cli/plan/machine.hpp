#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/plan/binding.hpp"
#include "bench/cli/plan/near.hpp"
#include "bench/cli/plan/plan.hpp"
#include "harness/core/of_option.hpp"
#include "harness/launch/environment.hpp"
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

/// Whether a rank's memory, of one case or of any, needs CUDA.
bool any_cuda(const std::vector<MemoryKind>& kinds);
bool uses_cuda(const Plan& plan);

/// `step`, whose failures name the option or the case of a suite that the plan comes from.
template <typename Step>
auto of_plan(const Plan& plan, Step step) {
  return plan.origin.empty() ? step() : of_option(plan.origin, step);
}

}  // namespace ucxbench
