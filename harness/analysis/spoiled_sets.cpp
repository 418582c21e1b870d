#include "harness/analysis/spoiled_sets.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

bool went_otherwise(const Case& of) {
  const auto other = [](const Json& path) { return verdict_in(path) == PathVerdict::other; };
  return other(of.path) || std::ranges::any_of(of.launches, other, &LaunchRecord::path);
}

std::string carriers_of(const Case& of) {
  const auto shares = shares_in_words(carried_by(of.path));
  return (shares.empty() ? "another transport" : shares) + " carried it";
}

}  // namespace

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
    const bool flawed = run.leaves_out(of);
    if (is_canary(of) || (!flawed && !went_otherwise(of))) continue;
    auto set = set_of(of);
    if (std::ranges::find(sets, set, &SpoiledSet::set) != sets.end()) continue;
    const auto flaw = flawed ? run.flaw_of(of) : std::nullopt;
    sets.push_back(
        {std::move(set), flaw, of.key, flaw ? run.in_words(*flaw, of) : carriers_of(of)});
  }
  return sets;
}

}  // namespace ucxbench
