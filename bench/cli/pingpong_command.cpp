#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "bench/cli/commands.hpp"
#include "bench/cli/outputs.hpp"
#include "bench/cli/place.hpp"
#include "bench/cli/progress_display.hpp"
#include "bench/cli/remote.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/shell_words.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/runner.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

using pingpong::Parameters;

// As typed; everything is parsed, and refused, before anything is started.
struct PingPongOptions {
  int ranks = 2;
  int launches = 6;
  std::string timeout = "60s";
  std::string wrap, token_file;
  std::optional<std::string> listen, connect;
  std::string connect_by = "address";
  std::string progress_mode = "poll";
  std::string memory = "host";
  std::string bind = "auto";
  std::string net_devices = "auto";
  std::vector<std::string> transports;
  bool strict = false;
  std::vector<std::string> ucx;
  std::string sizes = "8:64MiB:x2";
  std::string api = "tag";
  int window = 32;
  bool bidirectional = false;
  int warmup_runs = 1;
  std::uint64_t iterations = 0;
  std::string max_time = "1.5s";
  std::string check = "sample";
  std::vector<std::string> tags;
  Outputs outputs;

  bool remote() const { return listen.has_value() || connect.has_value(); }
};

void add_options(CLI::App& command, PingPongOptions& o) {
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type,
                        const char* group) {
    command.add_option(name, value, help)->type_name(type)->group(group)->capture_default_str();
  };
  command
      .add_option("-n,--ranks", o.ranks, "processes: an even number, pairs play at once; 1 = self")
      ->group("ranks")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--launches", o.launches, "fresh sets of processes per case")
      ->group("ranks")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  text("--timeout", o.timeout, "longest wait without progress", "TIME", "ranks");
  text("--wrap", o.wrap, "start each rank under this command; {rank} is replaced", "COMMAND",
       "ranks");
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
  text("-m,--memory", o.memory, "host; or SEND,RECEIVE", "KIND", "place");
  text("--bind", o.bind, "CPUs of the ranks: auto | none | one CPU per rank, 0,1", "LIST", "place");
  text("--net-devices", o.net_devices, "auto | all | names, as lo or eth0,eth1", "LIST", "place");
  command
      .add_option("--transports", o.transports,
                  "one set: self | shm | tcp | nvlink | ib, joined by commas | auto; repeat the "
                  "option for several (default: tcp, then shm)")
      ->group("place")
      ->type_name("SET")
      ->allow_extra_args(false);
  command.add_flag("--strict", o.strict, "exit 3 if any set cannot run")->group("place");
  command.add_option("--ucx", o.ucx, "a UCX setting of your own, over all others; repeatable")
      ->group("place")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  text("-s,--sizes", o.sizes, "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB", "LIST", "load");
  text("--api", o.api, "tag | stream, or both", "API,..", "load");
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
  command.add_option("--tag", o.tags, "a note for the result; repeatable")
      ->group("output")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  o.outputs.add_options(command);
}

// Names the option in what its parser says of its value.
template <typename Parse>
auto of_option(const char* option, Parse parse) {
  try {
    return parse();
  } catch (const Failure& failure) {
    throw Failure(failure.exit(), fmt::format("{}: {}", option, failure.what()));
  }
}

Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix) {
  Variables values;
  for (const auto& entry : given) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || !entry.starts_with(prefix)) {
      throw Failure(Exit::usage,
                    fmt::format("{} '{}': expected {}KEY=VALUE", option, entry, prefix));
    }
    values[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return values;
}

std::vector<TransportSet> parse_sets(const PingPongOptions& o) {
  std::vector<std::string> texts = o.transports;
  if (texts.empty()) {
    texts = o.ranks == 1 ? std::vector<std::string>{"self"}
            : o.remote() ? std::vector<std::string>{"tcp"}
                         : std::vector<std::string>{"tcp", "shm"};
  }
  std::vector<TransportSet> sets;
  for (const auto& text : texts) {
    auto set = TransportSet::parse(text);
    const bool self_only = set.members() == std::vector<std::string>{"self"};
    if (o.ranks == 1 && !self_only) {
      throw Failure(Exit::usage, fmt::format("--ranks 1 with --transports {}: one rank plays with "
                                             "itself over self only; use -n 2 or --transports self",
                                             text));
    }
    if (o.ranks > 1 && set.has("self")) {
      throw Failure(Exit::usage, fmt::format("--transports {}: self is one rank with itself; use "
                                             "-n 1, or leave self out",
                                             text));
    }
    const auto same = [&](const TransportSet& other) { return other.name() == set.name(); };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(std::move(set));
  }
  return sets;
}

void check_ranks(const PingPongOptions& o) {
  if (o.ranks > 1 && o.ranks % 2 != 0) {
    throw Failure(Exit::usage, fmt::format("--ranks {}: pairs need an even number, or 1 with "
                                           "--transports self",
                                           o.ranks));
  }
  if (o.listen && o.connect) {
    throw Failure(Exit::usage, "--listen and --connect: one side listens, the other connects");
  }
  if (o.listen && o.ranks != 2) {
    throw Failure(Exit::usage, "--listen runs two ranks, one on each side: leave --ranks out");
  }
}

void check_memory(const std::vector<std::uint64_t>& sizes, int local_ranks) {
  const auto largest = *std::max_element(sizes.begin(), sizes.end());
  const auto available = available_memory_bytes();
  // A send and a receive buffer in each rank; UCX and the system keep a tenth.
  const auto fits = available / 10 * 9 / 2 / static_cast<std::uint64_t>(local_ranks);
  if (largest <= fits) return;
  throw Failure(Exit::usage,
                fmt::format("--sizes: {} twice in each of {} ranks is more than the available "
                            "memory; at most {} MiB fit",
                            spaced_size(largest), local_ranks, fits >> 20U));
}

/// What all cases share, parsed.
struct Plan {
  std::vector<TransportSet> sets;
  std::vector<Api> apis;
  std::vector<ProgressMode> modes;
  std::vector<std::uint64_t> sizes;
  Parameters common;
};

Plan parse_plan(const PingPongOptions& o) {
  split_shell_words(o.wrap);  // refuses an open quote
  Plan plan;
  plan.sets = parse_sets(o);
  for (const auto name : split_text(o.api, ',')) plan.apis.push_back(parse_api(name));
  for (const auto name : split_text(o.progress_mode, ',')) {
    plan.modes.push_back(ProgressMode::parse(name));
  }
  plan.sizes = of_option("--sizes", [&] { return parse_sizes(o.sizes); });
  check_memory(plan.sizes, o.remote() ? 1 : o.ranks);
  auto& common = plan.common;
  common.window = o.window;
  common.bidirectional = o.bidirectional;
  common.memory.clear();
  for (const auto kind : split_text(o.memory, ',')) {
    common.memory.emplace_back(to_string(parse_memory_kind(kind)));
  }
  if (common.memory.size() > 2) {
    throw Failure(Exit::usage, "--memory: one kind, or two: sent from, received into");
  }
  if (common.memory.size() == 1) common.memory.push_back(common.memory.front());
  common.connect_by = parse_connect_by(o.connect_by);
  common.ranks = o.ranks;
  common.warmup_runs = o.warmup_runs;
  if (o.iterations > 0) common.iterations = o.iterations;
  common.time_per_launch =
      of_option("--max-time", [&] { return parse_duration(o.max_time); }) / o.launches;
  common.check = pingpong::parse_check(o.check);
  return plan;
}

Group make_group(const Plan& plan, const TransportSet& set, const std::string& net_devices,
                 const std::string& unavailable, Result& result) {
  Group group;
  group.set = set;
  group.settings = ucx_settings(set, net_devices, plan.common.connect_by == ConnectBy::sockaddr);
  group.unavailable = unavailable;
  for (const auto api : plan.apis) {
    for (const auto mode : plan.modes) {
      for (const auto bytes : plan.sizes) {
        auto parameters = plan.common;
        parameters.api = api;
        parameters.progress = mode;
        parameters.bytes = bytes;
        parameters.transports = set.members();
        parameters.net_devices = net_devices;
        Case planned;
        planned.key = case_key(parameters);
        planned.benchmark = "pingpong";
        planned.parameters = to_json(parameters);
        group.cases.push_back(result.cases.size());
        result.cases.push_back(std::move(planned));
      }
    }
  }
  return group;
}

// A ucx.conf is read by UCX without a word: one that decides what is measured here is refused, and
// any other is in the result.
void check_configuration(const std::vector<UcxConf>& files, const Variables& from_user) {
  for (const auto& file : files) {
    for (const auto& [key, value] : file.settings) {
      const bool decides = key == "UCX_TLS" || key == "UCX_NET_DEVICES" ||
                           key == "UCX_SHM_DEVICES" || key == "UCX_PROTOS" ||
                           key == "UCX_SOCKADDR_TLS_PRIORITY";
      if (!decides || from_user.contains(key)) continue;
      throw Failure(Exit::usage,
                    fmt::format("{} sets {}={}, which UCX reads silently and which changes the "
                                "transports; remove it, or give --ucx {}={}",
                                file.path.string(), key, value, key, value));
    }
  }
}

void print_plan(const Result& result, const std::vector<Group>& groups, const RunSetup& setup) {
  for (const auto& group : groups) {
    fmt::print("{}: {}\n", group.set.name(),
               group.unavailable.empty()
                   ? fmt::format("{} cases x {} launches", group.cases.size(), setup.launches)
                   : "cannot run here: " + group.unavailable);
    for (const auto& setting : group.settings) {
      fmt::print("  {}={}  # {}\n", setting.key, setting.value, setting.why);
    }
    for (const auto index : group.cases) fmt::print("  {}\n", result.cases[index].key);
  }
}

void explain_settings(const std::vector<Group>& groups) {
  for (const auto& group : groups) {
    for (const auto& setting : group.settings) {
      fmt::print(stderr, "{}: {}={} ({})\n", group.set.name(), setting.key, setting.value,
                 setting.why);
    }
  }
}

void label(Result& result, const RunSetup& setup, std::size_t local_ranks) {
  if (local_ranks > allowed_cpus().size()) {
    result.machine["labels"].push_back("oversubscribed");
    fmt::print(stderr,
               "{} ranks on {} CPUs: polling ranks take each other's time; --progress-mode event "
               "measures something useful\n",
               setup.ranks, allowed_cpus().size());
  }
}

Exit run_pingpong(const PingPongOptions& o, const GlobalOptions& global) {
  check_ranks(o);
  if (o.connect) {
    return follow_listener(*o.connect, o.token_file, {o.bind, o.wrap, o.net_devices});
  }
  const auto plan = parse_plan(o);
  RunSetup setup;
  setup.benchmark = "pingpong";
  setup.ranks = o.ranks;
  setup.launches = o.launches;
  setup.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      of_option("--timeout", [&] { return parse_duration(o.timeout); }));
  setup.wrap = o.wrap;
  setup.ucx = key_values("--ucx", o.ucx, "UCX_");
  setup.strict = o.strict;
  const bool threads = std::any_of(plan.modes.begin(), plan.modes.end(), [](const auto& mode) {
    return mode.kind == ProgressMode::Kind::thread;
  });
  const int local_ranks = o.listen ? 1 : o.ranks;
  setup.cpus = cpus_of_ranks(o.bind, local_ranks, threads ? 2 : 1);
  o.outputs.check();

  const auto ucx = probe_ucx();
  UcxConfPlaces places;
  places.library = ucx.library;
  const auto configuration = find_ucx_conf(current_environment(), places);
  check_configuration(configuration, setup.ucx);
  const auto tags = key_values("--tag", o.tags, "");
  auto result = describe_run(global.command, tags, ucx, configuration);
  label(result, setup, static_cast<std::size_t>(local_ranks));

  Signals signals;
  std::unique_ptr<Peer> peer;
  if (o.listen && !global.dry_run) {
    peer = wait_for_peer(*o.listen, o.token_file, "pingpong", signals);
    setup.peer = peer.get();
  }
  const auto route = peer ? device_of_connection(peer->fd()) : "lo";
  std::vector<Group> groups;
  for (const auto& set : plan.sets) {
    // Under a wrapper the ranks may live in another network namespace, with devices of its own.
    const auto devices = net_devices_of(o.net_devices, set, route, o.wrap.empty());
    const auto reasons = missing(set, ucx, plan.common.connect_by == ConnectBy::sockaddr);
    groups.push_back(
        make_group(plan, set, devices, fmt::format("{}", fmt::join(reasons, "; ")), result));
  }
  if (global.dry_run) {
    print_plan(result, groups, setup);
    return Exit::done;
  }
  if (global.verbose) explain_settings(groups);
  setup.output = o.outputs.run_file("pingpong");
  Exit exit = Exit::done;
  {
    ProgressDisplay display(ProgressDisplay::style(global.progress, global.quiet));
    exit = run_groups(result, std::move(groups), setup, signals, display);
  }
  const auto reason = result.run.at("reason").get<std::string>();
  if (peer) peer->say_goodbye(exit, reason);
  o.outputs.write(result, global.quiet, global.colored());
  if (!global.quiet) fmt::print(stderr, "results: {}\n", setup.output.string());
  if (!reason.empty()) fmt::print(stderr, "ucx-bench: {}\n", reason);
  for (const auto& wrong : result.cases) {
    if (wrong.verified.errors > 0) {
      fmt::print(stderr, "ucx-bench: {}: {}\n", wrong.key, wrong.reason);
    }
  }
  return exit;
}

}  // namespace

AddedCommand add_pingpong(CLI::App& app) {
  auto* command =
      app.add_subcommand("pingpong", "latency and bandwidth between two ranks, over sizes");
  const auto options = std::make_shared<PingPongOptions>();
  add_options(*command, *options);
  return {command,
          [options](const GlobalOptions& global) { return run_pingpong(*options, global); }};
}

}  // namespace ucxbench
