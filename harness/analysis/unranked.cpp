#include "harness/analysis/unranked.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/cases.hpp"
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

/// Why a launch was lost that the case was to be in; empty where none was. A failed run that does
/// not say which cases it failed in has failed in all.
std::string loss_in_words(const Judged& run, const Case& of) {
  const auto& about = run.result.run;
  const auto lost = about.value("lost_launches", Json::array());
  for (const auto& launch : lost) {
    const auto keys = texts_of(launch.value("cases", Json::array()));
    if (std::ranges::find(keys, of.key) != keys.end()) {
      return text_at(launch, "/reason", "a launch was lost");
    }
  }
  if (text_at(about, "/state", "") != "failed" || !lost.empty()) return "";
  if (std::ranges::any_of(run.result.cases, has_failed)) return "";
  return text_at(about, "/reason", "the run failed");
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
    case Flaw::no_bytes:
      return Unranked::no_bytes;
    case Flaw::time_sliced:
      return Unranked::time_sliced;
    case Flaw::interrupted:
      break;
  }
  if (!loss_in_words(run, of).empty()) return Unranked::launch_lost;
  if (!pairs_without_figure(of).empty()) return Unranked::incomplete;
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
    case Unranked::no_bytes:
      return run.in_words(Flaw::no_bytes, of);
    case Unranked::time_sliced:
      return run.in_words(Flaw::time_sliced, of);
    case Unranked::launch_lost:
      return on_one_line(loss_in_words(run, of));
    case Unranked::incomplete:
      return missing_pairs_in_words(of);
    case Unranked::overridden:
      return "--ucx UCX_TLS was in force instead of the set";
    case Unranked::other_transport:
      break;
  }
  const auto carriers = carriers_in_words(of.path);
  return (carriers.empty() ? "another transport" : carriers) + " carried it";
}

}  // namespace ucxbench
