#include "harness/run/host_speed.hpp"

#include <algorithm>
#include <utility>

#include "harness/host/copies.hpp"
#include "harness/host/processors.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/transports.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

bool bound(const std::vector<RankCommand>& ranks) {
  return !ranks.empty() && !ranks.front().cpus.empty();
}

}  // namespace

std::vector<int> cpus_for_copies(const std::vector<RankCommand>& ranks) {
  std::vector<int> cpus;
  for (const auto& rank : ranks) {
    if (rank.cpus.empty()) {
      cpus = allowed_cpus();
      break;
    }
    if (std::ranges::find(cpus, rank.cpus.front()) == cpus.end()) cpus.push_back(rank.cpus.front());
  }
  cpus.resize(std::min(cpus.size(), ranks.size()));
  return cpus;
}

const LaunchPlan* copying_plan(const std::vector<LaunchPlan>& plans, const Result& result) {
  const LaunchPlan* copying = nullptr;
  std::size_t most = 0;
  for (const auto& plan : plans) {
    const bool shares = plan.set.may_use(Fabric::shared_memory);
    const bool on_host = std::ranges::any_of(
        plan.cases, [&](auto index) { return of_memory(result.cases[index], "host"); });
    const bool wanted = plan.unavailable.empty() && !plan.no_memory_copy;
    if (!wanted || !shares || !on_host || plan.launch.ranks.size() < 2) continue;
    const auto cpus = cpus_for_copies(plan.launch.ranks).size();
    if (cpus <= most) continue;
    copying = &plan;
    most = cpus;
  }
  return copying;
}

Json memory_copy_event(const Result& result, const std::string& host, const Json& copies) {
  Json before;
  for (const auto& known : result.machine.value("hosts", Json::array())) {
    if (known.value("name", Json()) == host) before = known.value("memory_copy", Json());
  }
  return {{"memory_copy", {{"host", host}, {"copies", faster_copies(before, copies)}}}};
}

std::optional<Processors> processors_of(const std::vector<RankCommand>& ranks) {
  if (!bound(ranks)) return std::nullopt;
  const auto cpus = cpus_for_copies(ranks);
  return cpus.size() < 2 ? std::nullopt : look_at_processors(cpus[0], cpus[1]);
}

Json processors_to_answer(const std::optional<Processors>& seen) {
  return processors_to_json({seen, std::nullopt});
}

std::optional<Processors> processors_from_answer(const Json& answer) try {
  return processors_from_json(answer)[0];
} catch (const Json::exception&) {
  return std::nullopt;
}

bool is_bound(const LaunchPlan& plan) { return bound(plan.launch.ranks); }

}  // namespace ucxbench
