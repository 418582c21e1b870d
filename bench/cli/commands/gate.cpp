#include "bench/cli/commands/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "harness/result/paths.hpp"
#include "harness/transports/proof.hpp"

namespace ucxbench {
namespace {

std::string problem_of(const Case& of, const TransportSet& required, bool allow_same_gpu) {
  const auto carried = carried_by(of.path);
  const auto why = of.path.value("why", std::string("nothing is known"));
  if (carried.empty()) return "cannot tell what carried it: " + why;
  const auto share = share_of(required, carried);
  if (share < nearly_all_payload) {
    return fmt::format("{:.0f} % of the bytes went by {} ({})", 100 * share, required.name(), why);
  }
  const bool one_gpu = std::find(of.labels.begin(), of.labels.end(), "same-gpu") != of.labels.end();
  if (carried.contains("nvlink") && one_gpu && !allow_same_gpu) {
    return "a copy inside one GPU, not NVLink; --allow-same-gpu takes it";
  }
  return "";
}

}  // namespace

Exit check_required(const Result& result, const std::vector<LaunchPlan>& plans) {
  Exit exit = Exit::done;
  for (const auto& plan : plans) {
    if (!plan.require) continue;
    for (const auto index : plan.cases) {
      const auto& of = result.cases[index];
      if (of.state != CaseState::measured) continue;
      const auto problem = problem_of(of, *plan.require, plan.allow_same_gpu);
      if (problem.empty()) continue;
      fmt::print(stderr, "ucx-bench: --require {}: {}: {}\n", plan.require->name(), of.key,
                 problem);
      exit = Exit::gate;
    }
  }
  return exit;
}

}  // namespace ucxbench
