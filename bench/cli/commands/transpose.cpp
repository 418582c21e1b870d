#include <limits>
#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/published.hpp"
#include "bench/cli/options/workload_options.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"
#include "workloads/transpose/kernels.hpp"
#include "workloads/transpose/parameters.hpp"

namespace ucxbench {
namespace {

struct TransposeOptions {
  WorkloadOptions common;
  std::string size = "10000";
  std::string chunk_size = "2500";
  std::string result = "keep";
  bool bulk_synchronous = false;
  std::string inject;
};

void add_options(CLI::App& command, TransposeOptions& o) {
  o.common.add_options(command);
  command
      .add_option("--size", o.size,
                  "rows and columns of the array; with weak scaling of one rank's")
      ->group("load")
      ->type_name("COUNT")
      ->capture_default_str();
  command.add_option("--chunk-size", o.chunk_size, "rows and columns of a tile")
      ->group("load")
      ->type_name("COUNT")
      ->capture_default_str();
  command.add_option("--result", o.result, "keep the array that is made | sum it up")
      ->group("load")
      ->type_name("WHICH")
      ->capture_default_str();
  command
      .add_flag("--bulk-synchronous", o.bulk_synchronous, "exchange, then add, one after the other")
      ->group("load");
  command.add_option("--inject", o.inject, "make a mistake: corrupt | drop | misroute")
      ->group("load")
      ->type_name("MISTAKE");
  o.common.add_outputs(command);
}

void check_sizes(const transpose::Parameters& p, const Plan& plan) {
  for (const auto& kinds : plan.memory) {
    // The system and UCX keep a tenth.
    const auto available = kinds.front() == MemoryKind::host
                               ? available_memory_bytes() / 10 * 9
                               : std::numeric_limits<std::uint64_t>::max();
    for (const auto ranks : plan.ranks) transpose::check(transpose::for_ranks(p, ranks), available);
  }
}

Plan parse_plan(const TransposeOptions& o) {
  auto plan = o.common.begin("transpose");
  plan.no_gpu_memory = transpose::why_no_cuda_kernels();
  transpose::Parameters p;
  p.common = o.common.parameters();
  p.size = of_option("--size", [&] { return parse_count(o.size); });
  p.chunk_size = of_option("--chunk-size", [&] { return parse_count(o.chunk_size); });
  p.outcome = transpose::parse_outcome(o.result);
  p.bulk_synchronous = o.bulk_synchronous;
  p.injected = parse_injected(o.inject);
  check_workload(plan, p.injected);
  check_sizes(p, plan);
  plan.cases = [p](const CasePlace& place) {
    auto here = transpose::for_ranks(p, place.ranks);
    here.common = placed(here.common, place);
    return std::vector{planned_case("transpose", here)};
  };
  return plan;
}

}  // namespace

AddedCommand add_transpose(CLI::App& app) {
  auto* command = app.add_subcommand("transpose", "a distributed array plus its transpose");
  const auto options = std::make_shared<TransposeOptions>();
  add_options(*command, *options);
  return measuring(command, options->common.run, [command, options] {
    fill_as_published(*command, options->common.like, options->common.scale);
    return parse_plan(*options);
  });
}

}  // namespace ucxbench
