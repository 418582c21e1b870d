#include "bench/cli/commands/gate.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/core/print.hpp"
#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

/// One line: what carried the bytes instead.
std::string in_words(Unmet unmet, const Case& of, const TransportSet& required) {
  const auto why = of.path.value("why", std::string("nothing is known"));
  switch (unmet) {
    case Unmet::met:
      return "";
    case Unmet::not_known:
      return "cannot tell what carried it: " + why;
    case Unmet::too_little:
      return fmt::format("{:.0f} % of the bytes went by {}, {} carried them ({})",
                         100 * share_by(required.members(), of.path), required.name(),
                         carriers_in_words(of.path), why);
    case Unmet::eliminated:
      return "no port counter and no word of UCX says that ib carried the bytes (" + why + ")";
    case Unmet::inside_one_gpu:
      return "a copy inside one GPU, not NVLink; --allow-same-gpu takes it";
    case Unmet::over_pcie:
      return "cuda_ipc carried the bytes over PCIe: no NVLink joins these GPUs (ucx-bench topo)";
    case Unmet::counters_deny:
      return "cuda_ipc carried the bytes, but " + denial_in_words(medium_in(of.path).value());
    case Unmet::medium_unknown:
      break;
  }
  return "cuda_ipc carried the bytes; neither NVLink's counters nor the topology say over what "
         "(ucx-bench topo)";
}

}  // namespace

Exit check_required(const Result& result, const std::vector<LaunchPlan>& plans) {
  Exit exit = Exit::done;
  for (const auto& plan : plans) {
    if (!plan.require) continue;
    for (const auto index : plan.cases) {
      const auto& of = result.cases[index];
      if (of.state != CaseState::measured) continue;
      const auto unmet =
          unmet_by(plan.require->members(), of.path, medium_in(of.path), plan.allow_same_gpu);
      if (unmet == Unmet::met) continue;
      print_to(stderr, "ucx-bench: --require {}: {}: {} [{}]\n", plan.require->name(), of.key,
               in_words(unmet, of, *plan.require), to_string(unmet));
      exit = Exit::gate;
    }
  }
  return exit;
}

}  // namespace ucxbench
