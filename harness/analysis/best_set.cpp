#include "harness/analysis/best_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double as_good = 0.03;

std::size_t transports_of(const MeasuredSet& set) {
  const auto transports = texts_of(set.of->parameters.value("transports", Json::array()));
  const bool choice_of_ucx = std::ranges::find(transports, "auto") != transports.end();
  return choice_of_ucx ? std::numeric_limits<std::size_t>::max() : transports.size();
}

}  // namespace

std::map<std::string, std::vector<const Case*>> alike_but_for_transports(
    std::span<const Case* const> cases) {
  std::map<std::string, std::vector<const Case*>> groups;
  for (const auto* of : cases) {
    auto alike = of->parameters;
    for (const auto* name : {"transports", "comm", "net_devices"}) alike.erase(name);
    groups[of->benchmark + alike.dump()].push_back(of);
  }
  return groups;
}

std::vector<MeasuredSet> measured_sets(std::span<const Case* const> cases,
                                       const std::string& metric) {
  std::vector<MeasuredSet> sets;
  for (const auto* of : cases) {
    const auto found = of->metrics.find(metric);
    if (found == of->metrics.end() || !(found->second.quantiles.p50.value_or(0) > 0)) continue;
    sets.push_back({.name = text_at(of->parameters, "/transports"),
                    .of = of,
                    .shown = shown_metric(*of, metric),
                    .metric = &found->second});
  }
  return sets;
}

double loss(const MeasuredSet& set, const MeasuredSet& best) {
  const double times = set.p50() / best.p50();
  return (set.shown.better == "lower" ? times : 1 / times) - 1;
}

std::optional<std::array<double, 2>> loss_interval(const MeasuredSet& set,
                                                   const MeasuredSet& best) {
  const auto& own = set.metric->ci95;
  const auto& other = best.metric->ci95;
  if (!own || !other || !((*own)[0] > 0) || !((*other)[0] > 0)) return std::nullopt;
  const auto& [more, less] =
      set.shown.better == "lower" ? std::pair(*own, *other) : std::pair(*other, *own);
  return std::array{more[0] / less[1] - 1, more[1] / less[0] - 1};
}

Standing standing_of(const MeasuredSet& set, const MeasuredSet& best) {
  const auto interval = loss_interval(set, best);
  if (!interval) return Standing::unknown;
  if ((*interval)[1] <= as_good) return Standing::as_good;
  return (*interval)[0] > 0 && loss(set, best) > as_good ? Standing::worse : Standing::unknown;
}

const MeasuredSet& best_set(std::span<const MeasuredSet> sets) {
  const auto& fastest =
      *std::ranges::min_element(sets, [](const auto& a, const auto& b) { return loss(a, b) < 0; });
  const auto* best = &fastest;
  for (const auto& set : sets) {
    if (loss(set, fastest) <= as_good && transports_of(set) < transports_of(*best)) best = &set;
  }
  return *best;
}

}  // namespace ucxbench
