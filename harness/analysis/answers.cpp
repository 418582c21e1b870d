#include "harness/analysis/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/analysis/best_set.hpp"
#include "harness/analysis/decisions.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/phases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Cases that differ alone in their transports and in what moves their messages.
using SetsByGroup = std::map<std::string, std::vector<MeasuredSet>>;

SetsByGroup groups_of(const Judged& run, const char* metric, bool workloads) {
  std::vector<const Case*> cases;
  for (const auto& of : run.result.cases) {
    if (is_canary(of) || is_workload(of) != workloads || !may_advise(run, of)) continue;
    cases.push_back(&of);
  }
  SetsByGroup sets_by_group;
  for (const auto& [key, group] : alike_but_for_transports(cases)) {
    auto sets = measured_sets(group, metric);
    for (auto& set : sets) {
      const auto comm = text_at(set.of->parameters, "/comm", "ucx");
      if (comm != "ucx") set.name += " by " + comm;
    }
    if (!sets.empty()) sets_by_group.emplace(key, std::move(sets));
  }
  return sets_by_group;
}

double amount_of(const MeasuredSet& set) {
  return is_workload(*set.of) ? ranks_of(*set.of)
                              : static_cast<double>(bytes_of(*set.of).value_or(0));
}

std::string what_of(const MeasuredSet& set) {
  const auto& of = *set.of;
  if (is_workload(of)) return fmt::format("{}, {}", of.benchmark, ranks_in_words(of));
  return fmt::format("{}, {} of {}", of.benchmark, set.shown.title, size_of(of));
}

// Its figure with the interval of that, and what carried its messages: "3.52 us, 95% CI 3.4..3.6,
// by tcp".
std::string value_of(const MeasuredSet& set) {
  auto text = significant(set.p50(), 3) + " " + set.shown.unit;
  if (const auto interval = interval_of(*set.metric)) {
    text += fmt::format(", {} {}..{}", interval->kind == Interval::Kind::ci95 ? "95% CI" : "range",
                        significant(interval->low, 3), significant(interval->high, 3));
  }
  const auto carriers = carriers_in_words(set.of->path);
  return text + (carriers.empty() ? "" : ", by " + carriers);
}

std::string fastest_of(const Judged& run, const std::vector<MeasuredSet>& sets) {
  const auto& best = best_set(sets);
  std::vector<std::string> slower;
  std::vector<std::string> open;
  std::vector<std::string> alike;
  bool intervals = true;
  for (const auto& set : sets) {
    if (&set == &best) continue;
    if (told_apart(set, best)) {
      slower.push_back(fmt::format("{:.2f} x faster than {} ({})", 1 + loss(set, best), set.name,
                                   value_of(set)));
    } else {
      auto& others = standing_of(set, best) == Standing::as_good ? alike : open;
      others.push_back(fmt::format("{} ({})", set.name, value_of(set)));
      intervals = intervals && set.metric->ci95 && best.metric->ci95;
    }
  }
  auto text = what_of(best) + ": ";
  const auto own = fmt::format("{} ({})", best.name, value_of(best));
  if (!slower.empty()) {
    text += own;
    if (!alike.empty()) text += ", like " + join(alike, ", ");
    if (!open.empty()) text += ", not told apart from " + join(open, ", ");
    text += "; " + join(slower, ", ");
  } else if (open.empty()) {
    text += fmt::format("{} and {} differ by at most 3 %", own, join(alike, ", "));
  } else {
    open.insert(open.end(), alike.begin(), alike.end());
    text += fmt::format("no difference found between {} and {}: {}", own, join(open, ", "),
                        intervals ? "their launches allow either to be faster"
                                  : "no interval from fewer than six launches");
  }
  // The median over pairs hides one that is slow.
  for (const auto& set : sets) {
    const auto slow = &set == &best ? std::nullopt : worst_pair(best, set);
    if (!slow) continue;
    text += fmt::format("; but from rank {} to rank {} {} is {:.3g} x slower than {}", slow->src,
                        slow->dst, best.name, slow->times, set.name);
  }
  std::vector<std::string> labels;
  for (const auto& set : sets) {
    for (const auto& label : labels_of(run.result, *set.of)) add_once(labels, label);
  }
  return text + (labels.empty() ? "" : "; labels: " + join(labels, ", "));
}

/// The groups of several sets, of each benchmark those at one end of sizes or ranks.
void add_fastest(const Judged& run, const char* metric, bool workloads, bool largest,
                 std::vector<std::string>& answers) {
  std::map<std::string, double> ends;
  const auto groups = groups_of(run, metric, workloads);
  for (const auto& [key, sets] : groups) {
    if (sets.size() < 2) continue;
    const auto amount = amount_of(sets.front());
    const auto [end, added] = ends.emplace(sets.front().of->benchmark, amount);
    if (!added)
      end->second = largest ? std::max(end->second, amount) : std::min(end->second, amount);
  }
  for (const auto& [key, sets] : groups) {
    if (sets.size() < 2 || amount_of(sets.front()) != ends[sets.front().of->benchmark]) continue;
    answers.push_back("fastest: " + fastest_of(run, sets));
  }
}

/// How much of a run's time its ranks wait for the exchange, or move its bytes themselves.
void add_limits(const Judged& run, std::vector<std::string>& answers) {
  std::map<std::string, const MeasuredSet*> most;
  const auto groups = groups_of(run, "wall_ms", true);
  for (const auto& [key, sets] : groups) {
    for (const auto& set : sets) {
      auto& best = most[set.of->benchmark];
      const bool more = best == nullptr || ranks_of(*set.of) > ranks_of(*best->of);
      if (more || (ranks_of(*set.of) == ranks_of(*best->of) && loss(set, *best) < 0)) {
        best = &set;
      }
    }
  }
  for (const auto& [benchmark, set] : most) {
    const auto exposed = number_at(set->of->exchange, "exposed_ms");
    if (!exposed) continue;
    std::optional<double> moving;
    std::string mover = "UCX";
    std::string longest;
    double longest_share = 0;
    for (const auto& phase : set->of->phases) {
      const auto name = text_at(phase, "/name");
      const auto kind = kind_of(phase);
      const auto share = number_at(phase, "share").value_or(0);
      if (kind == PhaseKind::moving) {
        if (const auto timed = number_at(phase, "share")) moving = moving.value_or(0) + *timed;
        mover = name.substr(0, name.find(','));
      } else if ((kind == PhaseKind::computing || kind == PhaseKind::gap) &&
                 share > longest_share) {
        longest = name;
        longest_share = share;
      }
    }
    const auto waiting = std::min(1.0, *exposed / set->p50());
    const auto communicating = waiting + moving.value_or(0);
    const auto not_ready = number_at(set->of->exchange, "not_ready_ms");
    const auto others = not_ready ? fmt::format(", {:.0f} % for ranks that are not ready",
                                                100 * std::min(1.0, *not_ready / set->p50()))
                                  : "";
    const auto rest = longest.empty() ? std::string("no rank computes")
                                      : fmt::format("the rest is computing, most in {} ({:.0f} %)",
                                                    longest, 100 * longest_share);
    answers.push_back(fmt::format(
        "limits: {} over {}: {:.0f} % of the time waits for messages{}, {}; {}", what_of(*set),
        set->name, 100 * waiting, others,
        moving ? fmt::format("{:.0f} % is spent in {}", 100 * *moving, mover)
               : fmt::format("what {} takes while computing is not measured", mover),
        communicating < 0.5 ? fmt::format("{}: a faster transport gains at most {:.0f} %", rest,
                                          100 * communicating)
                            : "communication limits it: see which transport is the fastest"));
  }
}

}  // namespace

std::vector<std::string> answers_of(const Judged& run) {
  std::vector<std::string> answers;
  for (const auto& figure : impossible_figures(run)) {
    answers.push_back("impossible: " + figure + "; nothing follows from this case, measure again");
  }
  add_limits(run, answers);
  add_fastest(run, "wall_ms", true, true, answers);
  add_fastest(run, "latency_us", false, false, answers);
  add_fastest(run, "bandwidth_GBps", false, true, answers);
  return answers;
}

}  // namespace ucxbench
