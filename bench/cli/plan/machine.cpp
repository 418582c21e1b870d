#include "bench/cli/plan/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/plan/ablation.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/gpu_direct.hpp"
#include "harness/transports/known_settings.hpp"
#include "harness/transports/peer_settings.hpp"

namespace ucxbench {
namespace {

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

void check_known(const Variables& from_user, const Probe& found) {
  for (const auto& [name, value] : from_user) {
    const auto why = why_unknown_setting(name, found.ucx.settings, found.ucx.version);
    if (!why.empty()) throw Failure(Exit::usage, fmt::format("--ucx {}={}: {}", name, value, why));
  }
  const auto environment = current_environment();
  const auto is_in = [](const Variables& variables, const UnreadableSetting& of) {
    const auto at = variables.find(of.name);
    return at != variables.end() && at->second == of.value;
  };
  for (const auto& of : found.unreadable) {
    const bool users = is_in(from_user, of);
    if (!users && (from_user.contains(of.name) || !is_in(environment, of))) continue;
    throw Failure(Exit::usage, fmt::format("{}{}={}: {}", users ? "--ucx " : "in the environment, ",
                                           of.name, of.value, of.why));
  }
}

void check_plan(Plan& plan, const Machine& machine) {
  check_devices(plan, machine.found);
  if (plan.hosts > 1) refuse_nearest(plan.net_devices);
  const bool gpu_memory = std::ranges::any_of(plan.memory, any_on_gpu);
  if (plan.ablate) plan.sets = ablation_sets(machine.found.ucx, gpu_memory);
  for (const auto& set : plan.sets) check_overrides(plan.ucx, set, gpu_memory);
  check_known(plan.ucx, machine.found);
  if (plan.hosts > 1) check_peer_settings(plan.ucx);
  check_configuration(machine.configuration, plan.ucx);
}

}  // namespace

bool any_cuda(const std::vector<MemoryKind>& kinds) {
  return std::ranges::any_of(kinds, needs_cuda);
}

bool uses_cuda(const Plan& plan) { return std::ranges::any_of(plan.memory, any_cuda); }

Machine look_at_machine(const std::vector<Plan>& plans) {
  const bool mpi = std::ranges::any_of(plans, [](const Plan& plan) {
    return std::ranges::find(plan.comms, CommKind::mpi) != plan.comms.end();
  });
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& plan : plans) values.insert(values.end(), plan.ucx.begin(), plan.ucx.end());
  Machine machine{.found = probe({.cuda = std::ranges::any_of(plans, uses_cuda),
                                  .topology = true,
                                  .mpi = mpi,
                                  .values = std::move(values)}),
                  .configuration = {},
                  .wiring = {},
                  .cpus = allowed_cpus()};
  machine.configuration =
      find_ucx_conf(current_environment(), {.library = machine.found.ucx.library});
  machine.wiring = wiring_of(machine.found);
  return machine;
}

void check_plans(std::vector<Plan>& plans, const Machine& machine) {
  for (auto& plan : plans) {
    of_plan(plan, [&] { check_plan(plan, machine); });
  }
}

}  // namespace ucxbench
