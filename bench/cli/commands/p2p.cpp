#include <algorithm>
#include <memory>
#include <vector>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "bench/cli/plan/plan.hpp"
#include "bench/p2p/parameters.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

struct P2pOptions {
  RunOptions run;
  TransportOptions transports;
  MemoryOptions memory;
  std::string sizes;
  std::string concurrent = "one,all";
  std::string connect_by = "address";
  p2p::Parameters usual;
};

struct P2pLoad {
  std::vector<std::uint64_t> sizes;
  std::vector<p2p::Concurrent> concurrent;
  p2p::Parameters common;
};

std::vector<Case> p2p_cases(const P2pLoad& load, const CasePlace& place) {
  std::vector<Case> cases;
  auto parameters = placed_at(load.common, place);
  for (const auto bytes : load.sizes) {
    parameters.bytes = bytes;
    for (const auto concurrent : load.concurrent) {
      parameters.concurrent = concurrent;
      cases.push_back(planned_case("p2p", parameters));
    }
  }
  return cases;
}

// What is large for the memory: a GPU's links need more to be busy.
std::string usual_size(const Plan& plan) {
  return std::ranges::any_of(plan.memory, any_on_gpu) ? "256MiB" : "16MiB";
}

Plan parse_plan(const P2pOptions& o) {
  if (o.run.ranks < 2) throw Failure(Exit::usage, "--ranks 1: p2p needs at least two");
  auto plan = begin_plan(o.run.setup("p2p", o.run.ranks, 1),
                         o.transports.sets(o.run.ranks, {"tcp", "shm"}), o.transports, o.memory);
  P2pLoad load;
  load.common = o.usual;
  load.common.ranks = o.run.ranks;
  load.common.devices = o.memory.gpus();
  load.common.connect_by = parse_connect_by(o.connect_by);
  for (const auto name : split_text(o.concurrent, ',')) {
    const auto concurrent = p2p::parse_concurrent(name);
    if (std::ranges::find(load.concurrent, concurrent) == load.concurrent.end()) {
      load.concurrent.push_back(concurrent);
    }
  }
  // One to send from, one for each rank that sends.
  load.sizes =
      message_sizes(o.sizes.empty() ? usual_size(plan) : o.sizes, o.run.ranks, o.run.ranks);
  plan.sockaddr = load.common.connect_by == ConnectBy::sockaddr;
  plan.cases = [load](const CasePlace& place) { return p2p_cases(load, place); };
  return plan;
}

void add_load(CLI::App& command, P2pOptions& o) {
  command
      .add_option("-s,--sizes", o.sizes,
                  "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB (default: 16MiB; with GPU memory 256MiB)")
      ->type_name("LIST")
      ->group("load");
  command
      .add_option("--concurrent", o.concurrent,
                  "pairs that send at once: one | disjoint (each rank in one) | all")
      ->type_name("LIST")
      ->group("load")
      ->capture_default_str();
  command.add_option("-W,--window", o.usual.window, "messages outstanding, per pair")
      ->group("load")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      .add_option("--iterations", o.usual.iterations,
                  "messages of a stream (default: what takes 20 ms, but at least 16)")
      ->group("sample")
      ->check(CLI::Range(1, 1'000'000));
  command
      .add_option("-w,--warmup-runs", o.usual.warmup_runs,
                  "uncounted streams of each pair and launch")
      ->group("sample")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("-r,--runs", o.usual.runs, "measured streams of each pair and launch")
      ->group("sample")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
}

}  // namespace

AddedCommand add_p2p(CLI::App& app) {
  auto* command =
      app.add_subcommand("p2p", "what every rank reaches to every other, alone and all at once");
  const auto options = std::make_shared<P2pOptions>();
  options->run.add_ranks(*command, "processes: every ordered pair is measured");
  options->run.add_options(*command);
  command->add_option("--connect-by", options->connect_by, "address | sockaddr (a UCP listener)")
      ->group("ranks")
      ->type_name("WAY")
      ->capture_default_str();
  options->memory.add_options(*command);
  options->transports.add_options(*command);
  add_load(*command, *options);
  options->run.add_outputs(*command);
  return measuring(command, options->run, [options] { return parse_plan(*options); });
}

}  // namespace ucxbench
