#include "harness/analysis/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/analysis/findings.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

struct Figure {
  const char* metric;
  const char* unit;
  bool lower_is_better;
};
constexpr Figure wall = {"wall_ms", "ms", true};
constexpr Figure latency = {"latency_us", "us", true};
constexpr Figure bandwidth = {"bandwidth_GBps", "GB/s", false};

struct Set {
  std::string name;
  const Case* of;
  const Metric* metric;

  double p50() const { return *metric->quantiles.p50; }
};

std::optional<Set> set_of(const Case& of, const Figure& figure) {
  const auto found = of.metrics.find(figure.metric);
  if (found == of.metrics.end() || !(found->second.quantiles.p50.value_or(0) > 0)) {
    return std::nullopt;
  }
  auto name = text_at(of.parameters, "/transports");
  const auto comm = text_at(of.parameters, "/comm", "ucx");
  if (comm != "ucx") name += " by " + comm;
  return Set{std::move(name), &of, &found->second};
}

/// Cases that differ alone in their transports and in what moves their messages.
using SetsByGroup = std::map<std::string, std::vector<Set>>;

SetsByGroup groups_of(const Result& run, const Figure& figure, bool workloads) {
  SetsByGroup groups;
  for (const auto& of : run.cases) {
    if (is_canary(of) || is_workload(of) != workloads) continue;
    const auto set = set_of(of, figure);
    if (!set) continue;
    auto alike = of.parameters;
    for (const auto* name : {"transports", "comm", "net_devices"}) alike.erase(name);
    groups[of.benchmark + alike.dump()].push_back(*set);
  }
  return groups;
}

double amount_of(const Set& set) {
  return is_workload(*set.of) ? ranks_of(*set.of)
                              : static_cast<double>(bytes_of(*set.of).value_or(0));
}

bool faster(const Set& a, const Set& b, const Figure& figure) {
  return figure.lower_is_better ? a.p50() < b.p50() : a.p50() > b.p50();
}

bool told_apart(const Set& a, const Set& b) {
  const auto& x = a.metric->ci95;
  const auto& y = b.metric->ci95;
  return x && y && ((*x)[1] < (*y)[0] || (*y)[1] < (*x)[0]);
}

std::string what_of(const Set& set, const Figure& figure) {
  const auto& of = *set.of;
  if (is_workload(of)) return fmt::format("{}, {}", of.benchmark, ranks_in_words(of));
  return fmt::format("{}, {} of {}", of.benchmark, figure.lower_is_better ? "latency" : "bandwidth",
                     size_of(of));
}

/// Of the fastest set and those that intervals do not tell from it, the one with the fewest
/// members; UCX's own choice is none to set.
const Set& best_of(const std::vector<Set>& sets, const Figure& figure) {
  const auto members = [](const Set& set) {
    return set.name.starts_with("auto")
               ? std::string::npos
               : static_cast<std::size_t>(std::ranges::count(set.name, '+'));
  };
  const auto& fastest = *std::min_element(
      sets.begin(), sets.end(), [&](const Set& a, const Set& b) { return faster(a, b, figure); });
  const auto* best = &fastest;
  for (const auto& set : sets) {
    const bool known = set.metric->ci95 && fastest.metric->ci95;
    if (known && !told_apart(set, fastest) && members(set) < members(*best)) best = &set;
  }
  return *best;
}

std::string fastest_of(const std::vector<Set>& sets, const Figure& figure) {
  const auto& best = best_of(sets, figure);
  std::vector<std::string> slower;
  std::vector<std::string> open;
  bool intervals = true;
  for (const auto& set : sets) {
    if (&set == &best) continue;
    const double times = figure.lower_is_better ? set.p50() / best.p50() : best.p50() / set.p50();
    const auto value = significant(set.p50(), 3);
    if (told_apart(set, best)) {
      slower.push_back(
          fmt::format("{:.2f} x faster than {} ({} {})", times, set.name, value, figure.unit));
    } else {
      open.push_back(fmt::format("{} ({} {})", set.name, value, figure.unit));
      intervals = intervals && set.metric->ci95 && best.metric->ci95;
    }
  }
  auto text = what_of(best, figure) + ": ";
  const auto own = fmt::format("{} ({} {})", best.name, significant(best.p50(), 3), figure.unit);
  if (!slower.empty()) {
    text += own;
    if (!open.empty()) text += ", like " + join(open, ", ");
    text += "; " + join(slower, ", ");
  } else {
    text += fmt::format("no difference found between {} and {}: ", own, join(open, ", "));
    text += intervals ? "their 95 % intervals overlap" : "no interval from fewer than six launches";
  }
  return text;
}

/// The groups of several sets, of each benchmark those at one end of sizes or ranks.
void add_fastest(const Result& run, const Figure& figure, bool workloads, bool largest,
                 std::vector<std::string>& answers) {
  std::map<std::string, double> ends;
  const auto groups = groups_of(run, figure, workloads);
  for (const auto& [key, sets] : groups) {
    if (sets.size() < 2) continue;
    const auto amount = amount_of(sets.front());
    const auto [end, added] = ends.emplace(sets.front().of->benchmark, amount);
    if (!added)
      end->second = largest ? std::max(end->second, amount) : std::min(end->second, amount);
  }
  for (const auto& [key, sets] : groups) {
    if (sets.size() < 2 || amount_of(sets.front()) != ends[sets.front().of->benchmark]) continue;
    answers.push_back("fastest: " + fastest_of(sets, figure));
  }
}

/// How much of a run's time its ranks wait for the exchange, or move its bytes themselves.
void add_limits(const Result& run, std::vector<std::string>& answers) {
  std::map<std::string, const Set*> most;
  const auto groups = groups_of(run, wall, true);
  for (const auto& [key, sets] : groups) {
    for (const auto& set : sets) {
      auto& best = most[set.of->benchmark];
      const bool more = best == nullptr || ranks_of(*set.of) > ranks_of(*best->of);
      if (more || (ranks_of(*set.of) == ranks_of(*best->of) && faster(set, *best, wall))) {
        best = &set;
      }
    }
  }
  for (const auto& [benchmark, set] : most) {
    const auto exposed = number_at(set->of->exchange, "exposed_ms");
    if (!exposed) continue;
    double moving = 0;
    std::string mover = "UCX";
    std::string longest;
    double longest_share = 0;
    for (const auto& phase : set->of->phases) {
      const auto name = text_at(phase, "/name");
      const auto share = number_at(phase, "share").value_or(0);
      if (moves_messages(name)) {
        moving += share;
        mover = name.substr(0, name.find(','));
      } else if (name != "shuffle" && share > longest_share) {  // that is the waiting
        longest = name;
        longest_share = share;
      }
    }
    const auto waiting = std::min(1.0, *exposed / set->p50());
    answers.push_back(fmt::format(
        "limits: {} over {}: {:.0f} % of the time waits for messages, {:.0f} % is spent in {}; {}",
        what_of(*set, wall), set->name, 100 * waiting, 100 * moving, mover,
        waiting + moving < 0.5
            ? fmt::format(
                  "the rest is computing, most in {} ({:.0f} %): a faster transport gains at "
                  "most {:.0f} %",
                  longest, 100 * longest_share, 100 * (waiting + moving))
            : "communication limits it: see which transport is the fastest"));
  }
}

}  // namespace

std::vector<std::string> answers_of(const Result& run) {
  std::vector<std::string> answers;
  for (const auto& figure : impossible_figures(run)) {
    answers.push_back("impossible: " + figure + "; do not act on what follows, measure again");
  }
  add_limits(run, answers);
  add_fastest(run, wall, true, true, answers);
  add_fastest(run, latency, false, false, answers);
  add_fastest(run, bandwidth, false, true, answers);
  return answers;
}

}  // namespace ucxbench
