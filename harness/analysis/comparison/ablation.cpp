#include "harness/analysis/comparison/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/rank_tests.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/core/or_null.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/phases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double confidence = 0.95;
constexpr std::size_t most_shown = 3;  // loads of one title and metric

/// How a case communicates.
struct CommWay {
  std::string set, comm, mode;

  explicit CommWay(const Case& of)
      : set(text_at(of.parameters, "/transports")),
        comm(text_at(of.parameters, "/comm", "ucx")),
        mode(text_at(of.parameters, "/progress_mode", "poll")) {}
};

/// How long the run took whose traffic the case replays.
std::optional<double> recorded_ms(const Case& of) {
  const auto ms = number_at(of.parameters, "recorded_ms");
  return ms && *ms > 0 ? ms : std::nullopt;
}

/// Cases of one load.
using Group = std::vector<const Case*>;

// All that is not its way.
std::string load_of(const Case& of) {
  auto parameters = of.parameters;
  for (const auto* name : {"transports", "net_devices", "comm", "progress_mode"}) {
    parameters.erase(name);
  }
  return of.benchmark + parameters.dump();
}

std::vector<Group> groups_of(const Judged& run) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const auto& of : run.result.cases) {
    if (of.metrics.empty() && !run.leaves_out(of)) continue;
    if (is_canary(of) || !of.parameters.contains("transports")) continue;
    const auto [place, added] = places.emplace(load_of(of), groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(&of);
  }
  return groups;
}

/// What ways differ in.
struct Differences {
  std::set<std::string> sets, comms, modes;
  bool recorded = false;  ///< the load is the traffic of a recorded run

  explicit Differences(const Group& group) {
    for (const auto* of : group) {
      const CommWay way(*of);
      sets.insert(way.set);
      comms.insert(way.comm);
      modes.insert(way.mode);
      recorded |= recorded_ms(*of).has_value();
    }
  }
  bool worth_a_table() const {
    return comms.size() > 1 || modes.size() > 1 || (recorded && sets.size() > 1) ||
           (sets.contains("auto") && sets.size() >= 3);
  }
};

std::string name_of(const Case& of, const Differences& differ) {
  const CommWay way(of);
  auto name = way.set;
  if (differ.comms.size() > 1 || way.comm != "ucx") name += " by " + way.comm;
  if (differ.modes.size() > 1) name += ", " + way.mode;
  return name;
}

// "pingpong tag, host to host", without the way.
std::string title_of(const Case& of) {
  return of.shows.title.substr(0, of.shows.title.find(", over "));
}

// The least of its classes of pairs; of a workload its exchange's, alone.
std::optional<double> limit_share(const Case& of, const std::string& metric) {
  if (is_workload(of)) {
    const auto limit = number_at(of.exchange, "calibrated_GBps");
    const auto known = limit ? limit : number_at(of.exchange, "limit_GBps");
    const auto alone = number_at(of.exchange, "alone_GBps");
    return known && alone && *known > 0 ? std::optional(*alone / *known) : std::nullopt;
  }
  if (metric != "bandwidth_GBps") return std::nullopt;
  std::optional<double> least;
  for (const auto& row : of.limits) {
    const auto limit = number_at(row, "GBps");
    const auto reached = number_at(row, "p50_GBps");
    if (!limit || !reached || *limit <= 0) continue;
    least = std::min(least.value_or(*reached / *limit), *reached / *limit);
  }
  return least;
}

/// Names with times in ms.
using Parts = std::vector<std::pair<std::string, double>>;

// Ranks communicate that exchange messages, that wait for some with nothing to compute, and that
// move some between pieces of computing.
Parts parts_of(const Case& of) {
  Parts parts;
  if (recorded_ms(of)) {
    for (const auto& phase : of.phases) {
      const auto ms = number_at(phase, "median_ms");
      if (ms && kind_of(phase) != PhaseKind::moving)
        parts.emplace_back(text_at(phase, "/name"), *ms);
    }
    return parts;
  }
  double communicating = 0;
  double all = 0;
  for (const auto& phase : of.phases) {
    const auto ms = number_at(phase, "median_ms").value_or(0);
    const auto kind = kind_of(phase);
    all += ms;
    if (kind == PhaseKind::waiting || kind == PhaseKind::moving || kind == PhaseKind::exchanging) {
      communicating += ms;
    }
  }
  if (!p50_of(of, "wall_ms") || all <= 0) return parts;
  return {{"computing", all - communicating}, {"communicating", communicating}};
}

// Of a group, in their order.
Json names_of_parts(const Group& group) {
  Json names = Json::array();
  for (const auto* of : group) {
    for (const auto& [name, ms] : parts_of(*of)) {
      if (std::ranges::find(names, Json(name)) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Json::array_t ways_of(const Group& group, const Differences& differ, const ShownMetric& metric) {
  const Case* best = nullptr;
  const auto value = [&](const Case& of) { return p50_of(of, metric.name.c_str()); };
  for (const auto* of : group) {
    const auto own = value(*of);
    if (!own || *own <= 0) continue;
    const bool better =
        best == nullptr || (metric.better == "lower" ? *own < *value(*best) : *own > *value(*best));
    if (better) best = of;
  }
  Json::array_t ways;
  if (best == nullptr) return ways;
  const auto& medians_of_best = best->metrics.at(metric.name).launch_medians;
  for (const auto* of : group) {
    const auto own = value(*of);
    if (!own || *own <= 0) continue;
    const auto& measured = of->metrics.at(metric.name);
    Json row = {{"key", of->key},
                {"way", name_of(*of, differ)},
                {"p50", *own},
                {"ci95", measured.ci95 ? Json(*measured.ci95) : Json()},
                {"interval", to_json(interval_of(measured))},
                {"ratio", *own / *value(*best)},
                {"ratio_ci95", nullptr},
                {"limit_share", number_or_null(limit_share(*of, metric.name))}};
    if (of != best && !medians_of_best.empty() && !measured.launch_medians.empty()) {
      const Stratum both{.base = medians_of_best, .now = measured.launch_medians};
      // The ratio of the medians that stand beside it, which the interval may not leave out.
      const auto interval = ratio_of({&both, 1}, confidence).interval;
      const auto ratio = *own / *value(*best);
      if (interval) {
        row["ratio_ci95"] = {std::min((*interval)[0], ratio), std::max((*interval)[1], ratio)};
      }
    }
    const auto recorded = recorded_ms(*of);
    if (recorded && metric.name == "wall_ms") row["recorded_ratio"] = *own / *recorded;
    for (const auto& [part, ms] : parts_of(*of)) row[part + "_ms"] = ms;
    ways.push_back(std::move(row));
  }
  std::ranges::stable_sort(ways, [&](const Json& a, const Json& b) {
    return metric.better == "lower" ? a.at("p50") < b.at("p50") : a.at("p50") > b.at("p50");
  });
  return ways;
}

Json left_out_of(const Judged& run, const Group& group, const Differences& differ) {
  Json all = Json::array();
  for (const auto* of : group) {
    const auto why = why_unranked(run, *of);
    if (!why) continue;
    all.push_back({{"key", of->key},
                   {"way", name_of(*of, differ)},
                   {"flaw", name_of(unranked_names, *why)},
                   {"why", in_words(*why, run, *of)}});
  }
  return all;
}

// Of many loads the smallest one's time, and the largest one's rate.
void choose_shown(Json& all) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t at = 0; at < all.size(); ++at) {
    alike[text_at(all[at], "/title") + text_at(all[at], "/metric")].push_back(at);
  }
  for (const auto& [name, loads] : alike) {
    const bool time = text_at(all[loads.front()], "/better") == "lower";
    for (const auto at : loads) {
      all[at]["shown"] = loads.size() <= most_shown || at == (time ? loads.front() : loads.back());
    }
  }
}

}  // namespace

Json ablation_of(const Result& result) {
  Json all = Json::array();
  const Judged run(result);
  for (auto group : groups_of(run)) {
    const Differences differ(group);
    if (!differ.worth_a_table()) continue;
    const auto left_out = left_out_of(run, group, differ);
    std::erase_if(group, [&](const Case* of) { return why_unranked(run, *of); });
    if (group.empty()) continue;
    const auto& first = *group.front();
    const auto parts = names_of_parts(group);
    for (const auto& metric : first.shows.metrics) {
      if (metric.shown != Shown::drawn) continue;
      auto ways = ways_of(group, differ, metric);
      if (ways.size() < 2) continue;
      all.push_back({{"title", title_of(first)},
                     {"row", row_of(first)},
                     {"metric", metric.name},
                     {"about", metric.about},
                     {"unit", metric.unit},
                     {"better", metric.better},
                     {"ways", std::move(ways)}});
      if (!parts.empty()) all.back()["parts"] = parts;
      if (!left_out.empty()) all.back()["left_out"] = left_out;
    }
  }
  choose_shown(all);
  return all;
}

}  // namespace ucxbench
