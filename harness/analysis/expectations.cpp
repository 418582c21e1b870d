#include "harness/analysis/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/core/names.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr Names<Fulfilment, 4> fulfilments = {{{Fulfilment::met, "met"},
                                               {Fulfilment::cannot_run, "cannot run"},
                                               {Fulfilment::inconclusive, "inconclusive"},
                                               {Fulfilment::missed, "missed"}}};
constexpr std::size_t certain_launches = 2;

using RankPair = std::pair<int, int>;

/// What one pair says to a limit. The further off, the higher `distance`; 0 is the limit itself.
struct PairAnswer {
  Fulfilment fulfilment;
  double distance;
  double measured;
};

void take_unmeasured(CheckedLimit& checked, const Case& of) {
  checked.why = of.reason;
  checked.fulfilment =
      of.skip_cause == SkipCause::unavailable ? Fulfilment::cannot_run : Fulfilment::inconclusive;
}

/// The pairs of the class that is asked for. Where there is none `checked` gets the answer.
std::set<RankPair> pairs_of_class(const Case& of, const std::string& path_class,
                                  const CheckedRun& run, CheckedLimit& checked) {
  std::set<RankPair> pairs;
  std::set<std::string> classes;
  bool any = false;
  for (const auto& pair : of.pairs) {
    const RankPair ranks(pair.at("src").get<int>(), pair.at("dst").get<int>());
    if (!run.judges(ranks.first, ranks.second)) continue;
    any = true;
    const auto its_class = text_at(pair, "/class", "");
    if (!its_class.empty()) classes.insert(its_class);
    if (!path_class.empty() && its_class != path_class) continue;
    pairs.insert(ranks);
  }
  if (!pairs.empty()) return pairs;
  if (!any) {
    checked.fulfilment = Fulfilment::cannot_run;
    checked.why = "no pair of ranks on such nodes was measured";
    return pairs;
  }
  checked.fulfilment = classes.empty() ? Fulfilment::inconclusive : Fulfilment::cannot_run;
  checked.why = classes.empty() ? "the classes of these pairs are not known"
                                : "no pair of class " + path_class + " was measured, only " +
                                      join({classes.begin(), classes.end()}, ", ");
  return pairs;
}

template <typename Answer>
void take_worst(CheckedLimit& checked, const std::set<RankPair>& pairs, Answer answer) {
  std::optional<PairAnswer> worst;
  for (const auto& pair : pairs) {
    const std::optional<PairAnswer> answered = answer(pair);
    if (!answered) continue;
    const auto badness = [](const PairAnswer& of) { return std::pair(of.fulfilment, of.distance); };
    if (worst && badness(*answered) <= badness(*worst)) continue;
    worst = answered;
    checked.src = pair.first;
    checked.dst = pair.second;
  }
  if (!worst) {
    checked.fulfilment = Fulfilment::inconclusive;
    return;
  }
  checked.fulfilment = worst->fulfilment;
  checked.measured = worst->measured;
}

std::vector<double> launch_medians(const Case& of, const RankPair& pair,
                                   const std::string& metric) {
  std::vector<double> medians;
  for (const auto& record : of.launches) {
    if (RankPair(record.src, record.dst) != pair) continue;
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
    medians.push_back(*samples->second.quantiles.p50);
  }
  return medians;
}

std::set<RankPair> pairs_with(const Case& of, const std::string& metric) {
  std::set<RankPair> pairs;
  for (const auto& record : of.launches) {
    if (record.samples.contains(metric)) pairs.emplace(record.src, record.dst);
  }
  return pairs;
}

std::string pair_text(const RankPair& pair) {
  return std::to_string(pair.first) + "-" + std::to_string(pair.second);
}

/// Null where no launch of the case was lost.
const Json* lost_launch_of(const Case& of, const Json& lost_launches) {
  const auto lost = std::ranges::find_if(lost_launches, [&](const Json& launch) {
    const auto keys = texts_of(launch.value("cases", Json::array()));
    return std::ranges::find(keys, of.key) != keys.end();
  });
  return lost == lost_launches.end() ? nullptr : &*lost;
}

/// Pairs of ranks, in either direction, of which nobody has an answer.
struct Unmeasured {
  std::vector<RankPair> pairs;
  std::size_t of = 0;

  Unmeasured(const Case& measured, const std::set<RankPair>& answered, const CheckedRun& run) {
    for (int b = 0; b < static_cast<int>(ranks_of(measured)); ++b) {
      for (int a = 0; a < b; ++a) {
        if (!run.judges(a, b)) continue;
        ++of;
        if (!answered.contains({a, b}) && !answered.contains({b, a})) pairs.emplace_back(a, b);
      }
    }
  }

  std::string in_words() const {
    constexpr std::size_t most_listed = 4;
    std::vector<std::string> listed;
    for (const auto& pair : pairs) {
      if (listed.size() < most_listed) listed.push_back(pair_text(pair));
    }
    return "only " + std::to_string(of - pairs.size()) + " of " + std::to_string(of) +
           " pairs of ranks were measured, not " + join(listed, ", ") +
           (pairs.size() > most_listed ? " …" : "");
  }
};

/// Nothing is met by pairs that nobody looked at, and that ranks do not reach each other is missed,
/// whatever other launches measured.
void take_coverage(CheckedLimit& checked, const Case& of, const std::set<RankPair>& answered,
                   const CheckedRun& run) {
  Unmeasured unmeasured(of, answered, run);
  const auto* lost = lost_launch_of(of, run.lost_launches);
  if (lost == nullptr) {
    if (unmeasured.pairs.empty() || checked.fulfilment != Fulfilment::met) return;
    checked.fulfilment = Fulfilment::inconclusive;
    checked.why = unmeasured.in_words();
    return;
  }
  const bool in_other_launches = unmeasured.pairs.empty();
  if (in_other_launches) unmeasured = Unmeasured(of, {}, run);
  const auto silent = lost->value("ranks", std::set<int>());
  const auto silent_of = [&](const RankPair& pair) {
    return (silent.contains(pair.first) ? 1 : 0) + (silent.contains(pair.second) ? 1 : 0);
  };
  std::stable_sort(
      unmeasured.pairs.begin(), unmeasured.pairs.end(),
      [&](const RankPair& a, const RankPair& b) { return silent_of(a) > silent_of(b); });
  // Where ranks of pairs without a rank in common wait, as all do for one link while they connect,
  // none is to blame.
  checked.src.reset();
  checked.dst.reset();
  const auto all_with = [&](int rank) {
    return std::ranges::all_of(unmeasured.pairs, [&](const RankPair& pair) {
      return silent_of(pair) < silent_of(unmeasured.pairs.front()) || pair.first == rank ||
             pair.second == rank;
    });
  };
  if (!unmeasured.pairs.empty()) {
    const auto& [src, dst] = unmeasured.pairs.front();
    if (unmeasured.pairs.size() < unmeasured.of || all_with(src) || all_with(dst)) {
      std::tie(checked.src, checked.dst) = unmeasured.pairs.front();
    }
  }
  checked.fulfilment = Fulfilment::missed;
  checked.measured.reset();
  checked.why = in_other_launches ? fmt::format("launch {} was lost", lost->value("launch", 0) + 1)
                                  : unmeasured.in_words();
  checked.why += ": " + text_at(*lost, "/reason", "");
}

/// A figure of another transport says nothing of those that are asked for: what these do not carry
/// is not met, however fast the other is.
void take_other_transport(CheckedLimit& checked, const Case& of, const std::set<RankPair>& pairs) {
  std::string why;
  for (const auto& [pair, path] : paths_of_pairs(of)) {
    if (!pairs.contains(pair) || checked.path >= verdict_in(path)) continue;
    checked.path = verdict_in(path);
    why = fmt::format("{} carried {}->{}", carriers_in_words(path), pair.first, pair.second);
  }
  if (checked.path <= PathVerdict::unknown) return;
  const auto least =
      checked.path == PathVerdict::other ? Fulfilment::missed : Fulfilment::inconclusive;
  checked.fulfilment = std::max(checked.fulfilment, least);
  checked.why = (checked.why.empty() ? "" : checked.why + "; ") + why;
}

CheckedLimit check_metric(const std::string& name, const std::string& metric, double limit,
                          const std::string& path_class, const Case& of, const CheckedRun& run,
                          std::set<RankPair>& answered) {
  CheckedLimit checked{.name = name, .expected = limit};
  if (of.state != CaseState::measured) {
    take_unmeasured(checked, of);
    return checked;
  }
  if (is_time_sliced(of)) {
    checked.fulfilment = Fulfilment::inconclusive;
    checked.why = "time-sliced: ranks take turns on one GPU";
    return checked;
  }
  if (const auto why = run.impossible ? run.impossible(of) : ""; !why.empty()) {
    checked.fulfilment = Fulfilment::inconclusive;
    checked.why = why;
    answered = pairs_with(of, metric);
    return checked;
  }
  const auto pairs = pairs_of_class(of, path_class, run, checked);
  if (pairs.empty()) return checked;
  const bool more_is_better = shown_metric(of, metric).better == "higher";
  checked.why = "no " + metric + " was measured";
  take_worst(checked, pairs, [&](const RankPair& pair) -> std::optional<PairAnswer> {
    auto medians = launch_medians(of, pair, metric);
    if (medians.empty()) return std::nullopt;
    answered.insert(pair);
    checked.why.clear();
    const auto off = [&](double value) { return (more_is_better ? limit - value : value - limit); };
    const auto middle = median(medians);
    const bool all_off = std::ranges::all_of(medians, [&](double value) { return off(value) > 0; });
    const auto fulfilment = off(middle) <= 0 ? Fulfilment::met
                            : all_off && medians.size() >= certain_launches
                                ? Fulfilment::missed
                                : Fulfilment::inconclusive;
    return PairAnswer{fulfilment, off(middle), middle};
  });
  if (checked.fulfilment == Fulfilment::inconclusive && checked.measured) {
    checked.why = "launches disagree, or only one ran: check again";
  }
  take_other_transport(checked, of, pairs);
  // Of another class: the limit does not ask for it.
  for (const auto& pair : pairs_with(of, metric)) {
    if (!pairs.contains(pair)) answered.insert(pair);
  }
  return checked;
}

/// Of a payload by these members; empty where nobody can tell. By the medium it is all or nothing,
/// unless NVLink's counters saw a part.
std::optional<double> known_share(const std::vector<std::string>& members, const Json& path,
                                  const std::optional<SeenMedium>& medium) {
  switch (unmet_by(members, path, medium)) {
    case Unmet::not_known:
    case Unmet::eliminated:
    case Unmet::medium_unknown:
      return std::nullopt;
    case Unmet::met:
    case Unmet::too_little:
      return share_by(members, path);
    case Unmet::counters_deny:
      return share_by(members, path) -
             (1 - medium->counted.value_or(0)) * share_over(Fabric::gpu_links, path);
    case Unmet::inside_one_gpu:
    case Unmet::over_pcie:
      break;
  }
  return 0;
}

CheckedLimit check_carriers(const Expectation& expectation, const Case& of, const CheckedRun& run,
                            std::set<RankPair>& answered) {
  CheckedLimit checked{.name = "path", .expected = expectation.carriers};
  if (of.state != CaseState::measured) {
    take_unmeasured(checked, of);
    return checked;
  }
  const auto pairs = pairs_of_class(of, expectation.path_class, run, checked);
  if (pairs.empty()) return checked;
  const auto paths = paths_of_pairs(of);
  checked.why = "cannot tell what carried it: " + text_at(of.path, "/why", "nothing is known");
  bool any_unknown = false;
  take_worst(checked, pairs, [&](const RankPair& pair) -> std::optional<PairAnswer> {
    const auto path = paths.find(pair);
    const auto share = path == paths.end() ? std::nullopt
                                           : known_share(expectation.carriers, path->second,
                                                         medium_in(path->second));
    any_unknown |= !share;
    if (!share) return std::nullopt;
    const bool enough = *share >= nearly_all_payload;
    return PairAnswer{enough ? Fulfilment::met : Fulfilment::missed, -*share, *share};
  });
  if (checked.fulfilment == Fulfilment::met && any_unknown) {
    checked.fulfilment = Fulfilment::inconclusive;
  }
  if (checked.fulfilment == Fulfilment::met) checked.why.clear();
  if (checked.fulfilment == Fulfilment::missed) {
    checked.why = carriers_in_words(paths.at({*checked.src, *checked.dst})) + " carried it";
  }
  for (const auto& record : of.launches) answered.emplace(record.src, record.dst);
  return checked;
}

/// Towards what is easier to meet.
double two_digits(double value, bool up) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
}

std::vector<double> medians_of_pairs(const Case& of, const std::string& path_class,
                                     const std::string& metric) {
  std::vector<double> medians;
  for (const auto& pair : of.pairs) {
    if (text_at(pair, "/class", "") != path_class) continue;
    auto launches =
        launch_medians(of, {pair.at("src").get<int>(), pair.at("dst").get<int>()}, metric);
    if (!launches.empty()) medians.push_back(median(std::move(launches)));
  }
  return medians;
}

}  // namespace

std::string_view to_string(Fulfilment fulfilment) { return name_of(fulfilments, fulfilment); }

std::vector<CheckedLimit> check_limits(const Expectation& expectation, const Case* rates,
                                       const Case* latencies, const CheckedRun& run) {
  std::vector<CheckedLimit> checked;
  std::set<RankPair> answered;
  const auto add = [&](const Case& of, CheckedLimit limit) {
    take_coverage(limit, of, answered, run);
    checked.push_back(std::move(limit));
    answered.clear();
  };
  const auto of_metric = [&](const char* name, const char* metric, double limit, const Case& of) {
    add(of, check_metric(name, metric, limit, expectation.path_class, of, run, answered));
  };
  if (expectation.min_GBps) of_metric("min_GBps", "bandwidth_GBps", *expectation.min_GBps, *rates);
  if (expectation.max_us) of_metric("max_us", "latency_us", *expectation.max_us, *latencies);
  if (!expectation.carriers.empty()) {
    add(*rates, check_carriers(expectation, *rates, run, answered));
  }
  return checked;
}

std::vector<Expectation> expectations_like(const Expectation& like, const Case& rates,
                                           const Case& latencies) {
  if (rates.state != CaseState::measured) return {};
  std::set<std::string> classes;
  for (const auto& pair : rates.pairs) classes.insert(text_at(pair, "/class", ""));
  std::vector<Expectation> all;
  for (const auto& path_class : classes) {
    Expectation usual{
        .transports = like.transports, .memory = like.memory, .path_class = path_class};
    const auto reached = medians_of_pairs(rates, path_class, "bandwidth_GBps");
    if (reached.empty()) continue;
    usual.min_GBps = two_digits(rate_margin * std::ranges::min(reached), false);
    if (const auto took = medians_of_pairs(latencies, path_class, "latency_us"); !took.empty()) {
      usual.max_us = two_digits(time_margin * std::ranges::max(took), true);
    }
    for (const auto& [member, share] : carried_by(rates.path)) {
      auto with_path = usual;
      with_path.carriers = {member};
      with_path.min_GBps.reset();
      with_path.max_us.reset();
      if (check_limits(with_path, &rates, nullptr).front().fulfilment == Fulfilment::met) {
        usual.carriers = with_path.carriers;
      }
    }
    all.push_back(std::move(usual));
  }
  return all;
}

}  // namespace ucxbench
