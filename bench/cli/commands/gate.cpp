#include "bench/cli/commands/gate.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/core/print.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Of a case, or of the first of its pairs of ranks that do not meet what is required.
struct Shortfall {
  Unmet unmet = Unmet::met;
  Json path{};
  std::string pairs{};  ///< "2 of 6 pairs, the first 0->2: "; empty of a case as a whole
};

/// The bytes of a pair may be few beside those of all.
Shortfall shortfall_of(const Case& of, const LaunchPlan& plan) {
  const auto unmet_in = [&](const Json& path) {
    return unmet_by(plan.require->members(), path, medium_in(path), plan.allow_same_gpu);
  };
  Shortfall found{.unmet = unmet_in(of.path), .path = of.path};
  auto paths = paths_of_pairs(of);
  if (paths.size() < 2) return found;
  std::erase_if(paths, [&](const auto& pair) { return unmet_in(pair.second) == Unmet::met; });
  if (paths.empty()) return found;
  const auto& [pair, path] = *paths.begin();
  return {.unmet = unmet_in(path),
          .path = path,
          .pairs = fmt::format("{} of {} pairs, the first {}->{}: ", paths.size(), of.pairs.size(),
                               pair.first, pair.second)};
}

/// One line: what carried the bytes instead.
std::string in_words(const Shortfall& of, const TransportSet& required) {
  const auto why = text_at(of.path, "/why", "nothing is known");
  switch (of.unmet) {
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
      const auto shortfall = shortfall_of(of, plan);
      if (shortfall.unmet == Unmet::met) continue;
      print_to(stderr, "ucx-bench: --require {}: {}: {}{} [{}]\n", plan.require->name(), of.key,
               shortfall.pairs, in_words(shortfall, *plan.require), to_string(shortfall.unmet));
      exit = Exit::gate;
    }
  }
  return exit;
}

}  // namespace ucxbench
