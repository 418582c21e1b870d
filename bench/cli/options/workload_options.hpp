#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "bench/cli/plan/plan.hpp"
#include "workloads/common/injected.hpp"
#include "workloads/common/parameters.hpp"

namespace ucxbench {

/// What both workload commands ask, as typed.
struct WorkloadOptions {
  RunOptions run;
  TransportOptions transports;
  MemoryOptions memory;
  std::vector<int> ranks;
  std::string scaling;
  std::string like;
  double scale = 1;
  std::string connect_by = "address";
  int warmup_runs = 1;
  int runs = 3;
  bool no_calibration = false;
  bool no_transfer_log = false;
  std::string ignore_size = "1MiB";

  void add_options(CLI::App& command);
  /// Apart, so that they stand last in the help.
  void add_outputs(CLI::App& command);

  /// A plan without cases, for these numbers of ranks. Throws Failure(Exit::usage).
  Plan begin(const std::string& benchmark) const;
  /// What of a case does not depend on where it is measured. Throws Failure(Exit::usage).
  WorkloadParameters parameters() const;
};

/// What no workload can do. Throws Failure(Exit::usage).
void check_workload(const Plan& plan, Injected injected);

/// `parameters` at `place`.
WorkloadParameters placed(WorkloadParameters parameters, const CasePlace& place);

}  // namespace ucxbench
