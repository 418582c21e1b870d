#include "harness/analysis/spoiled_sets.hpp"

#include <algorithm>
#include <optional>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::optional<Spoiled> spoiled_by(const Judged& run, const Case& of) {
  if (const auto flaw = run.flaw_of(of)) {
    switch (*flaw) {
      case Flaw::wrong_data:
        return Spoiled::wrong_data;
      case Flaw::failed:
        return Spoiled::failed;
      case Flaw::impossible:
        return Spoiled::impossible;
      case Flaw::interrupted:
        break;
    }
  }
  const auto other = [](const Json& path) { return text_at(path, "/verdict", "") == "other"; };
  const bool any = other(of.path) || std::ranges::any_of(of.launches, [&](const auto& record) {
                     return other(record.path);
                   });
  return any ? std::optional(Spoiled::other_transport) : std::nullopt;
}

std::string evidence_of(const Judged& run, const Case& of) {
  if (const auto flaw = run.flaw_of(of)) return run.in_words(*flaw, of);
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
    if (is_canary(of)) continue;
    const auto why = spoiled_by(run, of);
    auto set = set_of(of);
    if (!why || std::ranges::find(sets, set, &SpoiledSet::set) != sets.end()) continue;
    sets.push_back({std::move(set), *why, of.key, evidence_of(run, of)});
  }
  return sets;
}

}  // namespace ucxbench
