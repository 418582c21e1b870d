#include <memory>
#include <vector>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "bench/cli/plan/plan.hpp"
#include "bench/cold/parameters.hpp"

namespace ucxbench {
namespace {

struct ColdOptions {
  RunOptions run;
  TransportOptions transports;
  MemoryOptions memory;
  std::string sizes = "4KiB,64KiB,1MiB,16MiB";
  int iterations = cold::Parameters{}.iterations;
};

struct ColdLoad {
  std::vector<std::uint64_t> sizes;
  cold::Parameters common;
};

std::vector<Case> cold_cases(const ColdLoad& load, const CasePlace& place) {
  std::vector<Case> cases;
  auto parameters = placed_at(load.common, place);
  for (const auto bytes : load.sizes) {
    parameters.bytes = bytes;
    for (parameters.peers = 1; parameters.peers < load.common.ranks; ++parameters.peers) {
      for (const auto buffers : {cold::Buffers::pool, cold::Buffers::own, cold::Buffers::fresh}) {
        parameters.buffers = buffers;
        cases.push_back(planned_case("cold", parameters));
      }
    }
  }
  return cases;
}

Plan parse_plan(const ColdOptions& o) {
  if (o.run.ranks < 2) {
    throw Failure(Exit::usage, "--ranks 1: rank 0 sends to the others; use -n 2 or more");
  }
  auto sets = o.transports.sets(o.run.ranks, {"tcp", "shm"});
  ColdLoad load;
  // Of the largest: one for warm-up, two in a pool.
  load.sizes = message_sizes(o.sizes, o.run.ranks, 3);
  load.common.ranks = o.run.ranks;
  load.common.iterations = o.iterations;
  load.common.devices = o.memory.gpus();
  load.common.pool_bytes = o.memory.pool_bytes();
  auto plan =
      begin_plan(o.run.setup("cold", o.run.ranks, 1), std::move(sets), o.transports, o.memory);
  plan.cases = [load](const CasePlace& place) { return cold_cases(load, place); };
  return plan;
}

}  // namespace

AddedCommand add_cold(CLI::App& app) {
  auto* command = app.add_subcommand(
      "cold", "what first messages cost, and after how many a memory pool has paid");
  const auto options = std::make_shared<ColdOptions>();
  options->run.add_ranks(*command, "processes: rank 0 sends to 1, 2, … and all of the others");
  options->run.add_options(*command);
  options->memory.add_options(*command);
  options->memory.add_pool_size(*command);
  options->transports.add_options(*command);
  command->add_option("-s,--sizes", options->sizes, "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB")
      ->type_name("LIST")
      ->group("load")
      ->capture_default_str();
  command
      ->add_option("--iterations", options->iterations,
                   "messages of the steady state, and fresh allocations, per peer")
      ->group("sample")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options->run.add_outputs(*command);
  return measuring(command, options->run, [options] { return parse_plan(*options); });
}

}  // namespace ucxbench
