#include "bench/cli/options/pingpong_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/pingpong/parameters.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

std::vector<TransportSet> parse_sets(const PingPongOptions& o) {
  if (o.enable_rdmacm && !o.transports.enable_infiniband) {
    throw Failure(Exit::usage, "--enable-rdmacm: connections by rdmacm need --enable-infiniband");
  }
  if (o.ablate && (o.transports.any_set() || !o.transports.require.empty())) {
    throw Failure(Exit::usage,
                  "--ablate tries every set: leave --transports, --enable-… and --require out");
  }
  return o.transports.sets(o.run.ranks, o.remote() ? std::vector<std::string>{"tcp"}
                                                   : std::vector<std::string>{"tcp", "shm"});
}

pingpong::Parameters parse_common(const PingPongOptions& o) {
  pingpong::Parameters common;
  common.window = o.window;
  pingpong::set_measured(common, o.measure);
  common.bidirectional = o.bidirectional;
  if (common.bidirectional && !common.bandwidth) {
    throw Failure(Exit::usage,
                  "--bidirectional: it is a bandwidth, which --measure latency leaves out");
  }
  common.pool = !o.memory.no_pool;
  common.pool_bytes = o.memory.pool_bytes();
  common.devices = o.memory.gpus();
  common.connect_by = o.enable_rdmacm ? ConnectBy::sockaddr : parse_connect_by(o.connect_by);
  common.ranks = o.run.ranks;
  common.warmup_runs = o.warmup_runs;
  if (o.iterations > 0) common.iterations = o.iterations;
  common.time_per_launch =
      of_option("--max-time", [&] { return parse_duration(o.max_time); }) / o.run.launches;
  common.check = pingpong::parse_check(o.check);
  return common;
}

struct PingPongLoad {
  std::vector<Api> apis;
  std::vector<ProgressMode> modes;
  std::vector<std::uint64_t> sizes;
  pingpong::Parameters common;
};

std::vector<Case> pingpong_cases(const PingPongLoad& load, const CasePlace& place) {
  std::vector<Case> cases;
  auto parameters = placed_at(load.common, place);
  for (const auto api : load.apis) {
    parameters.api = api;
    for (const auto mode : load.modes) {
      parameters.progress = mode;
      for (const auto bytes : load.sizes) {
        parameters.bytes = bytes;
        cases.push_back(planned_case("pingpong", parameters));
      }
    }
  }
  return cases;
}

}  // namespace

void check_ranks(const PingPongOptions& o) {
  const auto ranks = o.run.ranks;
  if (ranks > 1 && ranks % 2 != 0) {
    throw Failure(Exit::usage, fmt::format("--ranks {}: pairs need an even number, or 1 with "
                                           "--transports self",
                                           ranks));
  }
  if (o.listen && o.connect) {
    throw Failure(Exit::usage, "--listen and --connect: one side listens, the other connects");
  }
  if (o.listen && ranks != 2) {
    throw Failure(Exit::usage, "--listen runs two ranks, one on each side: leave --ranks out");
  }
}

void add_options(CLI::App& command, PingPongOptions& o) {
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type,
                        const char* group) {
    command.add_option(name, value, help)->type_name(type)->group(group)->capture_default_str();
  };
  o.run.add_ranks(command, "processes: an even number, pairs play at once; 1 = self");
  o.run.add_options(command);
  command.add_option("--listen", o.listen, "wait for the second rank's shell or machine")
      ->group("ranks")
      ->type_name("[IP:PORT]")
      ->expected(0, 1)
      ->default_str("127.0.0.1:13337");
  command.add_option("--connect", o.connect, "be the second rank of a --listen")
      ->group("ranks")
      ->type_name("HOST:PORT");
  text("--token-file", o.token_file, "secret shared by --listen and --connect", "FILE", "ranks");
  text("--connect-by", o.connect_by, "address | sockaddr (a UCP listener)", "WAY", "ranks");
  text("--progress-mode", o.progress_mode, "poll | event | thread | periodic:100us, or a list",
       "MODE,..", "ranks");
  o.memory.add_options(command);
  o.memory.add_pool_size(command);
  o.memory.add_no_pool(command);
  o.transports.add_options(command);
  command.add_flag("--enable-rdmacm", o.enable_rdmacm, "--connect-by sockaddr, by rdmacm")
      ->group("place, as dask-cuda spells it");
  command.add_flag("--ablate", o.ablate, "every set of the transports that exist here")
      ->group("place");
  text("-s,--sizes", o.sizes, "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB", "LIST", "load");
  text("--api", o.api, "tag | stream, or both", "API,..", "load");
  text("--measure", o.measure, "latency | bandwidth, or both", "METRIC,..", "load");
  command.add_option("-W,--window", o.window, "messages outstanding in the bandwidth part")
      ->group("load")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_flag("--bidirectional", o.bidirectional, "also bandwidth both ways at once")
      ->group("load");
  command.add_option("-w,--warmup-runs", o.warmup_runs, "uncounted runs before each case")
      ->group("sample")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      .add_option("--iterations", o.iterations,
                  "exactly so many, whatever the time (default: by "
                  "--max-time)")
      ->group("sample")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}));
  text("--max-time", o.max_time, "measuring time per case, all launches together", "TIME",
       "sample");
  text("--check", o.check, "payload comparison outside the clock: full | sample | off", "AMOUNT",
       "sample");
  o.run.add_outputs(command);
}

Plan parse_plan(const PingPongOptions& o) {
  auto sets = parse_sets(o);
  PingPongLoad load;
  for (const auto name : split_text(o.api, ',')) load.apis.push_back(parse_api(name));
  for (const auto name : split_text(o.progress_mode, ',')) {
    load.modes.push_back(ProgressMode::parse(name));
  }
  const int local_ranks = o.remote() ? 1 : o.run.ranks;
  load.sizes = message_sizes(o.sizes, local_ranks, 2);
  load.common = parse_common(o);
  const bool threads = std::any_of(load.modes.begin(), load.modes.end(), [](const auto& mode) {
    return mode.kind == ProgressMode::Kind::thread;
  });
  auto plan = begin_plan(o.run.setup("pingpong", local_ranks, threads ? 2 : 1), std::move(sets),
                         o.transports, o.memory);
  plan.ablate = o.ablate;
  plan.sockaddr = load.common.connect_by == ConnectBy::sockaddr;
  plan.crowded_advice = "; --progress-mode event measures something useful";
  plan.listen = o.listen;
  plan.token_file = o.token_file;
  plan.cases = [load](const CasePlace& place) { return pingpong_cases(load, place); };
  return plan;
}

}  // namespace ucxbench
