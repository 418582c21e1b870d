#include "harness/analysis/unranked.hpp"

#include <algorithm>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// The plan says so of each case (`ucx.environment.overridden`).
bool is_overridden(const Judged& run, const Case& of) {
  const Json::json_pointer place("/environment/overridden");
  const auto keys = run.result.ucx.contains(place) ? texts_of(run.result.ucx.at(place))
                                                   : std::vector<std::string>();
  return std::ranges::find(keys, of.key) != keys.end();
}

bool went_otherwise(const Case& of) {
  const auto otherwise = [](const Json& path) { return verdict_in(path) > PathVerdict::unknown; };
  return otherwise(of.path) || std::ranges::any_of(of.launches, otherwise, &LaunchRecord::path);
}

}  // namespace

std::optional<Unranked> why_unranked(const Judged& run, const Case& of) {
  switch (run.flaw_of(of).value_or(Flaw::interrupted)) {
    case Flaw::wrong_data:
      return Unranked::wrong_data;
    case Flaw::failed:
      return Unranked::failed;
    case Flaw::impossible:
      return Unranked::impossible;
    case Flaw::interrupted:
      break;
  }
  if (went_otherwise(of)) return Unranked::other_transport;
  // Whatever carries it is as asked of `auto`, which is UCX's own choice.
  const bool proved = verdict_in(of.path) == PathVerdict::as_asked && !asks_for(of, Fabric::any);
  if (!proved && is_overridden(run, of)) return Unranked::overridden;
  return std::nullopt;
}

std::string in_words(Unranked why, const Judged& run, const Case& of) {
  switch (why) {
    case Unranked::wrong_data:
      return run.in_words(Flaw::wrong_data, of);
    case Unranked::failed:
      return run.in_words(Flaw::failed, of);
    case Unranked::impossible:
      return run.in_words(Flaw::impossible, of);
    case Unranked::overridden:
      return "--ucx UCX_TLS was in force instead of the set";
    case Unranked::other_transport:
      break;
  }
  const auto carriers = carriers_in_words(of.path);
  return (carriers.empty() ? "another transport" : carriers) + " carried it";
}

}  // namespace ucxbench
