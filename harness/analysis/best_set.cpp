#include "harness/analysis/best_set.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double as_good = 0.03;

std::size_t transports_of(const MeasuredSet& set) {
  const auto transports = texts_of(set.of->parameters.value("transports", Json::array()));
  const bool choice_of_ucx = std::ranges::find(transports, "auto") != transports.end();
  return choice_of_ucx ? std::numeric_limits<std::size_t>::max() : transports.size();
}

std::string network_of(const Case& of) { return text_at(of.parameters, "/net_devices", ""); }

// By pair of ranks, what each launch gave.
std::map<std::pair<int, int>, std::vector<double>> launches_of_pairs(const MeasuredSet& set) {
  std::map<std::pair<int, int>, std::vector<double>> launches;
  for (const auto& record : set.of->launches) {
    const auto samples = record.samples.find(set.shown.name);
    if (samples == record.samples.end()) continue;
    const auto& p50 = samples->second.quantiles.p50;
    if (p50.value_or(0) > 0) launches[{record.src, record.dst}].push_back(*p50);
  }
  return launches;
}

}  // namespace

bool have_one_network(const Case& a, const Case& b) {
  return network_of(a).empty() || network_of(b).empty() || network_of(a) == network_of(b);
}

std::map<std::string, std::vector<const Case*>> alike_but_for_transports(
    std::span<const Case* const> cases) {
  std::map<std::string, std::vector<const Case*>> alike;
  for (const auto* of : cases) {
    auto parameters = of->parameters;
    for (const auto* name : {"transports", "comm", "net_devices"}) parameters.erase(name);
    alike[of->benchmark + parameters.dump()].push_back(of);
  }
  std::map<std::string, std::vector<const Case*>> groups;
  for (const auto& [key, all] : alike) {
    std::set<std::string> networks;
    for (const auto* of : all) networks.insert(network_of(*of));
    if (networks.size() > 1) networks.erase("");
    for (const auto& network : networks) {
      auto& group = groups[key + network];
      std::ranges::copy_if(all, std::back_inserter(group), [&](const Case* of) {
        return network_of(*of).empty() || network_of(*of) == network;
      });
    }
  }
  return groups;
}

std::optional<PairLoss> worst_pair(const MeasuredSet& set, const MeasuredSet& other) {
  constexpr std::size_t least_launches = 6;
  const auto others = launches_of_pairs(other);
  std::optional<PairLoss> worst;
  for (const auto& [pair, own] : launches_of_pairs(set)) {
    const auto found = others.find(pair);
    if (found == others.end()) continue;
    const bool lower = set.shown.better == "lower";
    const auto& more = lower ? own : found->second;
    const auto& less = lower ? found->second : own;
    if (std::min(more.size(), less.size()) < least_launches) continue;
    const auto [least, most] = std::ranges::minmax(more);
    const auto [nearest, farthest] = std::ranges::minmax(less);
    const double times = median(more) / median(less);
    if (least <= farthest || times <= 1 + as_good || (worst && worst->times >= times)) continue;
    worst = {.src = pair.first,
             .dst = pair.second,
             .times = times,
             .interval = {least / farthest, most / nearest}};
  }
  return worst;
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
