#include "harness/run/host_speed.hpp"

#include <algorithm>
#include <utility>

#include "harness/host/copies.hpp"
#include "harness/host/processors.hpp"
#include "harness/result/cases.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

bool bound(const LaunchPlan& plan) {
  return !plan.launch.ranks.empty() && !plan.launch.ranks.front().cpus.empty();
}

/// One for each rank of this host, as far as there are so many.
std::vector<int> cpus_of(const LaunchPlan& plan) {
  std::vector<int> cpus;
  if (bound(plan)) {
    for (const auto& rank : plan.launch.ranks) {
      if (!rank.cpus.empty() && std::ranges::find(cpus, rank.cpus.front()) == cpus.end()) {
        cpus.push_back(rank.cpus.front());
      }
    }
  } else {
    cpus = allowed_cpus();
  }
  cpus.resize(std::min(cpus.size(), plan.launch.ranks.size()));
  return cpus;
}

}  // namespace

std::vector<int> copying_cpus(const std::vector<LaunchPlan>& plans, const Result& result) {
  std::vector<int> cpus;
  for (const auto& plan : plans) {
    const bool shares = plan.set.has("shm") || plan.set.has("auto");
    const bool on_host = std::ranges::any_of(
        plan.cases, [&](auto index) { return of_memory(result.cases[index], "host"); });
    if (!plan.unavailable.empty() || !shares || !on_host || plan.launch.ranks.size() < 2) continue;
    if (auto more = cpus_of(plan); more.size() > cpus.size()) cpus = std::move(more);
  }
  return cpus;
}

Json calibrate_host(const Result& result, const std::vector<int>& cpus) {
  const Json::json_pointer place("/hosts/0/memory_copy");
  return faster_copies(result.machine.value(place, Json()), measure_copies(cpus));
}

std::optional<Processors> processors_of(const LaunchPlan& plan) {
  if (!bound(plan)) return std::nullopt;
  const auto cpus = cpus_of(plan);
  return cpus.size() < 2 ? std::nullopt : look_at_processors(cpus[0], cpus[1]);
}

}  // namespace ucxbench
