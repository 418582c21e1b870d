#include "harness/analysis/spoiled_sets.hpp"

#include <algorithm>
#include <utility>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

std::string set_of(const Case& of) {
  auto set = text_at(of.parameters, "/transports");
  const auto comm = text_at(of.parameters, "/comm", "ucx");
  const auto devices = text_at(of.parameters, "/net_devices", "");
  if (comm != "ucx") set += " by " + comm;
  return devices.empty() ? set : set + ", on " + devices;
}

std::vector<SpoiledSet> spoiled_sets(const Judged& run) {
  std::vector<SpoiledSet> sets;
  for (const auto& of : run.result.cases) {
    const auto why = is_canary(of) ? std::nullopt : why_unranked(run, of);
    // Turns on a GPU are no matter of the set.
    if (!why || why == Unranked::time_sliced) continue;
    auto set = set_of(of);
    if (std::ranges::find(sets, set, &SpoiledSet::set) != sets.end()) continue;
    sets.push_back({std::move(set), *why, of.key, in_words(*why, run, of)});
  }
  return sets;
}

}  // namespace ucxbench
