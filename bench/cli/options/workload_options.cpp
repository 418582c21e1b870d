#include "bench/cli/options/workload_options.hpp"

#include <algorithm>

#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {

void WorkloadOptions::add_options(CLI::App& command) {
  command
      .add_option("-n,--ranks", ranks, "processes; several numbers are measured one by one: 1,2,4")
      ->group("ranks")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->type_name("LIST")
      ->default_str("2");
  run.add_options(command);
  command.add_option("--connect-by", connect_by, "address | sockaddr (a UCP listener)")
      ->group("ranks")
      ->type_name("WAY")
      ->capture_default_str();
  command.add_option("--scaling", scaling, "how the load grows with the ranks: weak | strong")
      ->group("load")
      ->type_name("WAY");
  command
      .add_option("--like", like,
                  "the load of a published benchmark, where no option says otherwise: dask-cuda | "
                  "dgx-post | mpi4dask")
      ->group("load")
      ->type_name("NAME");
  command.add_option("--scale", scale, "with --like: that much of its data")
      ->group("load")
      ->check(CLI::Range(1e-9, 1e9))
      ->capture_default_str();
  memory.add_options(command);
  memory.add_pool_size(command);
  memory.add_no_pool(command);
  transports.add_options(command);
}

void WorkloadOptions::add_outputs(CLI::App& command) {
  command.add_option("-w,--warmup-runs", warmup_runs, "uncounted runs of each launch")
      ->group("sample")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("-r,--runs", runs, "measured runs of each launch")
      ->group("sample")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      .add_flag("--no-calibrate", no_calibration,
                "do not measure what the exchange reaches when nothing is computed")
      ->group("sample");
  command.add_flag("--no-transfer-log", no_transfer_log, "do not record every message")
      ->group("sample");
  command
      .add_option("--ignore-size", ignore_size,
                  "quantiles of pairs are over messages of at least this size")
      ->group("sample")
      ->type_name("SIZE")
      ->capture_default_str();
  run.add_outputs(command);
  run.outputs.add_transfer_options(command);
}

Plan WorkloadOptions::begin(const std::string& benchmark) const {
  if (no_transfer_log) run.outputs.need_no_transfers();
  auto counts = ranks.empty() ? std::vector<int>{2} : ranks;
  auto common = run;
  common.ranks = *std::max_element(counts.begin(), counts.end());
  auto plan = begin_plan(common.setup(benchmark, common.ranks, 1),
                         transports.sets(common.ranks, {"tcp", "shm"}), transports, memory);
  plan.ranks = std::move(counts);
  plan.sockaddr = parse_connect_by(connect_by) == ConnectBy::sockaddr;
  return plan;
}

WorkloadParameters WorkloadOptions::parameters() const {
  WorkloadParameters p;
  p.pool = !memory.no_pool;
  p.pool_bytes = memory.pool_bytes();
  p.devices = memory.gpus();
  p.scaling = parse_scaling(scaling);
  p.like = like;
  p.scale = scale;
  p.connect_by = parse_connect_by(connect_by);
  p.warmup_runs = warmup_runs;
  p.runs = runs;
  if (no_calibration) p.calibrations = 0;
  p.transfer_log = !no_transfer_log;
  p.ignore_bytes = of_option("--ignore-size", [&] { return parse_size(ignore_size); });
  return p;
}

void check_workload(const Plan& plan, Injected injected) {
  if (injected != Injected::nothing && *std::ranges::min_element(plan.ranks) < 2) {
    throw Failure(Exit::usage, "--inject: a mistake on the way needs at least two ranks");
  }
  for (const auto& kinds : plan.memory) {
    if (kinds.front() != kinds.back()) {
      throw Failure(Exit::usage, "--memory: a workload's data are in one kind of memory");
    }
  }
}

WorkloadParameters placed(WorkloadParameters p, const CasePlace& place) {
  p.memory = parse_memory_kind(place.memory.front());
  p.transports = place.transports;
  p.net_devices = place.net_devices;
  p.ranks = place.ranks;
  return p;
}

}  // namespace ucxbench
