#include "bench/cli/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <span>

#include "bench/cli/commands/progress_display.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/plan/ablation.hpp"
#include "bench/cli/plan/estimate.hpp"
#include "bench/cli/plan/gate.hpp"
#include "bench/cli/plan/near.hpp"
#include "bench/cli/plan/place.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/comm/gpu_direct.hpp"
#include "harness/comm/peer_settings.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/provenance.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

bool any_cuda(const std::vector<MemoryKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), needs_cuda);
}

Group make_group(const Plan& plan, int ranks, const TransportSet& set,
                 const std::vector<MemoryKind>& memory, const SetUse& use, Result& result) {
  Group group;
  group.set = set;
  group.ranks = ranks;
  group.setup = plan.setup;
  group.settings = ucx_settings(set, use);
  CasePlace place{
      .transports = set.members(), .memory = {}, .net_devices = use.net_devices, .ranks = ranks};
  for (const auto kind : memory) place.memory.emplace_back(to_string(kind));
  std::vector<std::string> variant;
  if (!plan.name.empty()) variant.push_back(plan.name);
  if (any_cuda(memory)) variant.push_back(fmt::format("{}", fmt::join(place.memory, "-")));
  if (plan.ranks.size() > 1) variant.push_back(fmt::format("ranks {}", ranks));
  group.variant = fmt::format("{}", fmt::join(variant, ", "));
  for (auto& planned : plan.cases(place)) {
    group.cases.push_back(result.cases.size());
    result.cases.push_back(std::move(planned));
  }
  return group;
}

std::string why_not(const Plan& plan, const TransportSet& set,
                    const std::vector<MemoryKind>& memory, const SetUse& use, const Probe& found) {
  if (any_on_gpu(memory) && !plan.no_gpu_memory.empty()) return plan.no_gpu_memory;
  if (any_cuda(memory) && !found.no_cuda.empty()) return found.no_cuda;
  return fmt::format("{}", fmt::join(missing(set, found.ucx, use), "; "));
}

void check_devices(const Plan& plan, const Probe& found) {
  if (found.gpus.empty()) return;
  for (const auto index : plan.devices) {
    if (index < static_cast<int>(found.gpus.size())) continue;
    throw Failure(Exit::usage, fmt::format("--devs: no GPU {}; there are 0 to {}", index,
                                           found.gpus.size() - 1));
  }
  for (const auto& gpu : found.gpus) {
    if (plan.pool_bytes <= gpu.memory_bytes) continue;
    throw Failure(Exit::usage, fmt::format("--rmm-pool-size: {} is more than GPU {} has ({})",
                                           spaced_size(plan.pool_bytes), gpu.index,
                                           rough_size(gpu.memory_bytes)));
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
    fmt::print("{}: {}\n", group.name(),
               group.unavailable.empty()
                   ? fmt::format("{} cases x {} launches", group.cases.size(), setup.launches)
                   : "cannot run here: " + group.unavailable);
    for (const auto& setting : group.settings) {
      fmt::print("  {}={}  # {}\n", setting.key, setting.value, setting.why);
    }
    for (std::size_t rank = 0; rank < group.net_devices.size(); ++rank) {
      fmt::print("  rank {}: UCX_NET_DEVICES={}\n", rank, group.net_devices[rank]);
    }
    for (const auto index : group.cases) fmt::print("  {}\n", result.cases[index].key);
  }
  for (const auto& line : result.run.value("placement", Json::array())) {
    fmt::print("{}\n", line.get<std::string>());
  }
  for (const auto& finding : memlock(Judged(result))) {
    fmt::print("! {}: {}\n", finding.subject, finding.evidence);
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

void label(Result& result, const std::vector<Plan>& plans) {
  const auto cpus = allowed_cpus().size();
  for (const auto& plan : plans) {
    const auto local_ranks = plan.listen ? 1 : plan.setup.ranks;
    if (static_cast<std::size_t>(local_ranks) <= cpus) continue;
    result.machine["labels"].push_back("oversubscribed");
    fmt::print(stderr, "{} ranks on {} CPUs: polling ranks take each other's time{}\n",
               plan.setup.ranks, cpus, plan.crowded_advice);
    return;
  }
}

// All that a rank of this group has.
Variables ucx_variables(const Group& group) {
  auto [entries, asked, inherited, replaced] =
      rank_environment(current_environment(), settings_of(group), group.setup.ucx);
  asked.merge(inherited);
  return asked;
}

// A set that names ib is refused then; auto runs without, and UCX goes on trying.
void note_lockable(Result& result, const std::vector<Plan>& plans, const UcxResources& ucx) {
  const auto problem = lockable_problem(ucx.lockable_bytes);
  const bool automatic = std::ranges::any_of(plans, [](const Plan& plan) {
    return std::ranges::any_of(plan.sets, [](const TransportSet& set) { return set.has("auto"); });
  });
  const bool disturbs = !problem.empty() && automatic && available("ib", ucx);
  result.ucx["lockable_problem"] = disturbs ? Json(problem) : Json();
}

// How `auto` and `nearest` were taken.
void note_placement(Result& result, const Plan& plan, const std::string& option,
                    const std::string& how) {
  const auto of = plan.name.empty() ? "" : plan.name + ": ";
  const auto line = fmt::format("{}{}: {}", of, option, how);
  auto& lines = result.run["placement"];
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

bool may_use_infiniband(const Plan& plan) {
  return std::ranges::any_of(plan.sets, [](const TransportSet& set) { return set.has("ib"); });
}

bool uses_cuda(const Plan& plan) { return std::ranges::any_of(plan.memory, any_cuda); }

// One choice for all sets and memories: `ranks` of the run file has one.
void bind_near_data(Plan& plan, const Wiring& wiring, Result& result) {
  if (!plan.setup.near_cpus) return;
  auto [cpus, how] =
      cpus_by_wiring(wiring, plan.setup.cpus, plan.devices, uses_cuda(plan),
                     may_use_infiniband(plan), allowed_cpus(), *plan.setup.near_cpus);
  plan.setup.cpus = std::move(cpus);
  note_placement(result, plan, "--bind auto", how);
}

// UCX_NET_DEVICES by rank; empty where all ranks have what --net-devices says.
std::vector<std::string> own_net_devices(const Plan& plan, const TransportSet& set,
                                         const std::vector<MemoryKind>& memory,
                                         const std::string& route, const Wiring& wiring,
                                         Result& result) {
  const bool nearest = plan.net_devices == "nearest";
  // By itself only where there is a choice, and UCX is not to make it.
  const bool chosen = plan.net_devices == "auto" && set.has("ib") && !plan.listen &&
                      wiring.rdma_ports.size() > 1 && plan.setup.wrap.empty();
  if (!chosen && !(nearest && (set.has("ib") || set.has("auto")))) return {};
  const auto data = data_of_ranks(wiring, plan.setup.cpus, plan.devices, any_cuda(memory), true);
  auto devices = nearest_net_devices(wiring, data, set, route);
  note_placement(result, plan, fmt::format("--net-devices {}, {}", plan.net_devices, set.name()),
                 !devices.empty() ? "the NIC nearest to each rank's data"
                                  : "for all ranks alike: no NIC is known to be nearest to each");
  return devices;
}

std::string all_of_them(const std::vector<std::string>& devices) {
  std::vector<std::string> all;
  for (const auto& own : devices) {
    for (const auto name : split_text(own, ',')) {
      if (std::ranges::find(all, name) == all.end()) all.emplace_back(name);
    }
  }
  return fmt::format("{}", fmt::join(all, ","));
}

std::vector<Group> make_groups(const Plan& plan, const std::string& route, bool one_host,
                               const Probe& found, const Wiring& wiring, Result& result) {
  std::vector<Group> groups;
  for (const auto& set : plan.sets) {
    // Under a wrapper the ranks may live in another network namespace, with devices of its own.
    const auto devices = net_devices_of(plan.net_devices, set, route, plan.setup.wrap.empty());
    for (const auto& memory : plan.memory) {
      const auto own = own_net_devices(plan, set, memory, route, wiring, result);
      const SetUse use{.net_devices = own.empty() ? devices : all_of_them(own),
                       .sockaddr = plan.sockaddr,
                       .gpu_memory = any_on_gpu(memory),
                       .one_host = one_host,
                       .gdr = plan.gdr};
      for (const auto ranks : plan.ranks) {
        auto group = make_group(plan, ranks, set, memory, use, result);
        group.net_devices = own;
        group.unavailable = why_not(plan, set, memory, use, found);
        if (use.gpu_memory || set.has("ib") || set.has("auto")) {
          result.ucx["gpu_direct"][group.name()] =
              describe_gpu_direct(found.ucx, ucx_variables(group));
        }
        groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

// What only the machine can tell.
void settle(Plan& plan, const Probe& found, const std::vector<UcxConf>& configuration) {
  check_devices(plan, found);
  if (plan.listen) refuse_nearest(plan.net_devices);
  const bool gpu_memory = std::ranges::any_of(plan.memory, any_on_gpu);
  if (plan.ablate) plan.sets = ablation_sets(found.ucx, gpu_memory);
  for (const auto& set : plan.sets) check_overrides(plan.setup.ucx, set, gpu_memory);
  if (plan.listen) check_peer_settings(plan.setup.ucx);
  check_configuration(configuration, plan.setup.ucx);
}

template <typename Step>
auto of_plan(const Plan& plan, Step step) {
  return plan.origin.empty() ? step() : of_option(plan.origin, step);
}

// By its key a case is found again in another run.
void check_distinct(const Result& result) {
  std::set<std::string> keys;
  for (const auto& planned : result.cases) {
    if (keys.insert(planned.key).second) continue;
    throw Failure(Exit::usage,
                  fmt::format("{} would be measured twice; leave one out", planned.key));
  }
}

// What the run itself would end with.
Exit exit_of_plan(const std::vector<Group>& groups) {
  const auto cannot = [](const Group& group) { return !group.unavailable.empty(); };
  const bool refused = std::ranges::any_of(
      groups, [&](const Group& group) { return cannot(group) && group.setup.strict; });
  return refused || std::ranges::all_of(groups, cannot) ? Exit::cannot_run : Exit::done;
}

}  // namespace

Plan begin_plan(CommandSetup setup, std::vector<TransportSet> sets,
                const TransportOptions& transports, const MemoryOptions& memory) {
  Plan plan;
  plan.setup = std::move(setup);
  plan.setup.ucx = key_values("--ucx", transports.ucx, "UCX_");
  plan.setup.strict = transports.strict;
  plan.ranks = {plan.setup.ranks};
  plan.sets = std::move(sets);
  plan.memory = memory.kinds();
  plan.devices = memory.gpus();
  plan.pool_bytes = memory.pool_bytes();
  plan.gdr = transports.gpu_direct();
  plan.net_devices = transports.net_devices;
  plan.require = transports.required(plan.sets);
  plan.allow_same_gpu = transports.allow_same_gpu;
  return plan;
}

void say_how_it_ended(const Result& result, bool quiet) {
  if (!quiet && !result.file.empty()) fmt::print(stderr, "results: {}\n", result.file.string());
  const auto reason = result.run.at("reason").get<std::string>();
  if (!reason.empty()) fmt::print(stderr, "ucx-bench: {}\n", reason);
  for (const auto& wrong : result.cases) {
    if (wrong.verified.errors > 0) {
      fmt::print(stderr, "ucx-bench: {}: {}\n", wrong.key, wrong.reason);
    }
  }
}

Exit page_after_measuring(const Outputs& outputs, const Result& result) {
  const auto exit = outputs.write_page(result);
  return exit == Exit::usage ? Exit::lost : exit;
}

Exit carry_out(Plan plan, const RunOptions& run, const GlobalOptions& global) {
  const auto command = plan.setup.benchmark;
  RunSetup setup;
  setup.launches = run.launches;
  std::vector<Plan> plans;
  plans.push_back(std::move(plan));
  return carry_out_together(command, std::move(plans), std::move(setup), run, global);
}

MeasuredRun measure_together(const std::string& command, std::vector<Plan> plans, RunSetup setup,
                             const RunOptions& run, const GlobalOptions& global) {
  run.outputs.check();
  const auto found = probe({.cuda = std::ranges::any_of(plans, uses_cuda), .topology = true});
  const auto configuration = find_ucx_conf(current_environment(), {.library = found.ucx.library});
  for (auto& plan : plans) {
    of_plan(plan, [&] { settle(plan, found, configuration); });
  }
  auto result =
      describe_run(global.command, key_values("--tag", run.tags, ""), found, configuration);
  result.run["asked"] = global.asked;
  label(result, plans);
  note_lockable(result, plans, found.ucx);

  Signals signals;
  std::unique_ptr<RemoteSupervisor> remote;
  const auto& first = plans.front();
  if (first.listen && !global.dry_run) {
    remote = wait_for_remote(*first.listen, first.token_file, command, signals);
    setup.remote = remote.get();
  }
  const auto route = remote ? device_of_connection(remote->fd()) : "lo";
  const auto wiring = wiring_of(found);
  std::vector<Group> groups;
  std::vector<std::size_t> ends;  // of each plan's cases
  for (auto& plan : plans) {
    bind_near_data(plan, wiring, result);
    auto more = of_plan(
        plan, [&] { return make_groups(plan, route, remote == nullptr, found, wiring, result); });
    std::ranges::move(more, std::back_inserter(groups));
    ends.push_back(result.cases.size());
  }
  check_distinct(result);
  if (global.dry_run) {
    print_plan(result, groups, setup);
    const auto exit = exit_of_plan(groups);
    if (exit == Exit::done)
      fmt::print("takes {}\n", in_words(estimate(result.cases, groups, setup)));
    return {std::move(result), exit, false};
  }
  if (global.verbose) explain_settings(groups);
  setup.output = run.outputs.run_file(command, result);
  result.file = setup.output;
  Exit exit = Exit::done;
  {
    ProgressDisplay display(ProgressDisplay::style(global.progress, global.quiet), setup.max_time);
    display.begins(in_words(estimate(result.cases, groups, setup)));
    exit = run_groups(result, std::move(groups), setup, signals, display);
  }
  std::size_t begin = 0;
  for (std::size_t at = 0; at < plans.size(); begin = ends[at++]) {
    if (!plans[at].require) continue;
    const auto cases = std::span(result.cases).subspan(begin, ends[at] - begin);
    exit = worse(exit, check_required(cases, *plans[at].require, plans[at].allow_same_gpu));
  }
  if (remote) remote->say_goodbye(exit, result.run.at("reason").get<std::string>());
  // As the file has it, so that a report from the file says the same.
  auto recorded = parse_result(to_text(to_json(result)), result.file.string());
  recorded.file = result.file;
  recorded.findings = shown_findings(recorded);
  return {std::move(recorded), exit, true};
}

Exit carry_out_together(const std::string& command, std::vector<Plan> plans, RunSetup setup,
                        const RunOptions& run, const GlobalOptions& global) {
  const auto measured = measure_together(command, std::move(plans), std::move(setup), run, global);
  const auto& [result, exit, any] = measured;
  if (!any) return exit;
  const auto written = run.outputs.write(result, global.quiet, global.colored());
  say_how_it_ended(result, global.quiet);
  return worse(worse(exit, written), page_after_measuring(run.outputs, result));
}

}  // namespace ucxbench
