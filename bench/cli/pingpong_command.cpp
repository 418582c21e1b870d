#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "bench/cli/ablation.hpp"
#include "bench/cli/commands.hpp"
#include "bench/cli/gate.hpp"
#include "bench/cli/pingpong_options.hpp"
#include "bench/cli/place.hpp"
#include "bench/cli/progress_display.hpp"
#include "bench/cli/remote.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"
#include "harness/run/runner.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

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

bool any_cuda(const std::vector<MemoryKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), needs_cuda);
}

bool any_on_gpu(const std::vector<MemoryKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), on_gpu);
}

Group make_group(const PingPongPlan& plan, const TransportSet& set,
                 const std::vector<MemoryKind>& memory, const SetUse& use, Result& result) {
  Group group;
  group.set = set;
  group.settings = ucx_settings(set, use);
  std::vector<std::string> kinds;
  for (const auto kind : memory) kinds.emplace_back(to_string(kind));
  if (any_cuda(memory)) group.memory = fmt::format("{}", fmt::join(kinds, "-"));
  for (const auto api : plan.apis) {
    for (const auto mode : plan.modes) {
      for (const auto bytes : plan.sizes) {
        auto parameters = plan.common;
        parameters.api = api;
        parameters.progress = mode;
        parameters.bytes = bytes;
        parameters.transports = set.members();
        parameters.memory = kinds;
        parameters.net_devices = use.net_devices;
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

std::string why_not(const TransportSet& set, const std::vector<MemoryKind>& memory,
                    const SetUse& use, const Probe& found) {
  if (any_cuda(memory) && !found.no_cuda.empty()) return found.no_cuda;
  return fmt::format("{}", fmt::join(missing(set, found.ucx, use), "; "));
}

void check_devices(const pingpong::Parameters& common, const Probe& found) {
  if (found.gpus.empty()) return;
  for (const auto index : common.devices) {
    if (index < static_cast<int>(found.gpus.size())) continue;
    throw Failure(Exit::usage, fmt::format("--devs: no GPU {}; there are 0 to {}", index,
                                           found.gpus.size() - 1));
  }
  for (const auto& gpu : found.gpus) {
    if (common.pool_bytes <= gpu.memory_bytes) continue;
    throw Failure(Exit::usage,
                  fmt::format("--rmm-pool-size: {} is more than GPU {} has ({} MiB)",
                              spaced_size(common.pool_bytes), gpu.index, gpu.memory_bytes >> 20U));
  }
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
  auto plan = parse_plan(o);
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

  const auto found = probe(std::any_of(plan.memory.begin(), plan.memory.end(), any_cuda));
  const auto& ucx = found.ucx;
  check_devices(plan.common, found);
  if (o.ablate)
    plan.sets = ablation_sets(ucx, std::any_of(plan.memory.begin(), plan.memory.end(), any_on_gpu));
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
    for (const auto& memory : plan.memory) {
      const SetUse use{.net_devices = devices,
                       .sockaddr = plan.common.connect_by == ConnectBy::sockaddr,
                       .gpu_memory = any_on_gpu(memory),
                       .one_host = peer == nullptr,
                       .gdr = plan.gdr};
      auto group = make_group(plan, set, memory, use, result);
      group.unavailable = why_not(set, memory, use, found);
      groups.push_back(std::move(group));
    }
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
  if (plan.require) exit = worse(exit, check_required(result, *plan.require, o.allow_same_gpu));
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
