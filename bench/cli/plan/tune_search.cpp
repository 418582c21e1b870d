#include "bench/cli/plan/tune_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "harness/analysis/comparison/duets.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t kept_of = 3;       // one in three is measured further
constexpr int most_launches_of_one = 8;  // more are left to the confirmation
constexpr std::size_t most_partners = 6;
constexpr int most_steps = 2;          // settings added to the first
constexpr double least_gain = 0.002;   // of the score; less is not worth a confirmation
constexpr double least_step = 0.0198;  // log 1.02
constexpr double sure_by = 3;          // standard errors

struct Scored {
  Variables settings;
  double score = std::numeric_limits<double>::lowest();
  double best = 0, worst = 0;  ///< gain of a row
};

bool share_a_name(const Variables& one, const Variables& other) {
  return std::ranges::any_of(one, [&](const auto& of) { return other.contains(of.first); });
}

// For what was no duet: each launch of one side with that of the other in the same turn.
std::vector<double> logs_in_turns(const Case& base, const Case& now, const std::string& metric) {
  const auto p50 = [&](const LaunchRecord& record) -> std::optional<double> {
    const auto found = record.samples.find(metric);
    if (found == record.samples.end()) return std::nullopt;
    return found->second.quantiles.p50;
  };
  std::vector<double> logs;
  for (const auto& of_base : base.launches) {
    for (const auto& of_now : now.launches) {
      if (of_now.launch != of_base.launch || of_now.src != of_base.src) continue;
      const auto before = p50(of_base);
      const auto after = p50(of_now);
      if (of_now.dst == of_base.dst && before && after && *before > 0 && *after > 0) {
        logs.push_back(std::log(*after / *before));
      }
    }
  }
  return logs;
}

// Of an undecided row, by its interval: with the settings over that with the default.
std::optional<double> least_speed(const SeriesChange& row) {
  if (!row.ratio.interval) return std::nullopt;
  const auto [low, high] = *row.ratio.interval;
  return row.better == "higher" ? low : 1 / high;
}

class Search {
 public:
  Search(const std::vector<Variables>& candidates, Trials& trials)
      : candidates_(candidates), trials_(trials) {}

  Tuned run() {
    auto ranked = halve(candidates_, 1);
    const auto best = std::ranges::find_if(ranked, [](const Scored& scored) {
      return scored.score < least_gain || is_worth_it(scored);
    });
    if (best == ranked.end() || best->score < least_gain) return found_;
    take(*best);
    for (int step = 0; step < most_steps && !found_.cut_short; ++step) {
      const auto together = halve(with_partners(ranked), 2);
      if (together.empty() || !gains_enough(together.front())) break;
      take(together.front());
    }
    return found_;
  }

 private:
  void take(const Scored& best) {
    found_.settings = best.settings;
    found_.score = best.score;
  }

  // Else the confirmation would refuse it, and what comes next would not be found.
  static bool is_worth_it(const Scored& scored) { return scored.worst > -scored.best; }

  // The best of several partners is also the luckiest: both are measured as often as any.
  bool gains_enough(const Scored& together) {
    if (trials_.is_over() || !is_worth_it(together)) return false;
    const auto with = trials_.measure(together.settings, most_launches_of_one);
    const auto without = trials_.measure(found_.settings, most_launches_of_one);
    const auto error = std::hypot(with.error(), without.error());
    return with.score() - without.score() >= std::max(least_step, sure_by * error);
  }

  std::vector<Variables> with_partners(const std::vector<Scored>& ranked) const {
    std::vector<Variables> together;
    for (const auto& [settings, score, best, worst] : ranked) {
      if (together.size() == most_partners) break;
      if (score == std::numeric_limits<double>::lowest()) break;  // does not run
      if (share_a_name(settings, found_.settings)) continue;
      together.push_back(settings);
      together.back().insert(found_.settings.begin(), found_.settings.end());
    }
    return together;
  }

  // All settings, the best first; those that were dropped earlier come last.
  std::vector<Scored> halve(const std::vector<Variables>& settings, int launches) {
    std::vector<Scored> ranked;
    for (const auto& candidate : settings) ranked.push_back({candidate});
    auto left = ranked.size();
    const bool first_round = &settings == &candidates_;
    while (left > 0) {
      for (std::size_t at = 0; at < left; ++at) {
        if (trials_.is_over()) {
          found_.cut_short = true;
          break;
        }
        const auto trial = trials_.measure(ranked[at].settings, launches);
        ranked[at].score = trial.score();
        std::tie(ranked[at].worst, ranked[at].best) = trial.extremes();
        if (!first_round || launches > 1) continue;
        ++found_.tried;
        if (trial.problem.empty()) continue;
        if (found_.unmeasured++ > 0) continue;
        found_.problem = settings_in_words(ranked[at].settings) + ": " + trial.problem;
      }
      const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(left);
      std::stable_sort(ranked.begin(), end,
                       [](const Scored& a, const Scored& b) { return a.score > b.score; });
      if (found_.cut_short || left <= 1 || launches >= most_launches_of_one) break;
      left = std::max<std::size_t>(left > 2 ? 2 : 1, (left + kept_of - 1) / kept_of);
      launches *= 2;
    }
    return ranked;
  }

  const std::vector<Variables>& candidates_;
  Trials& trials_;
  Tuned found_;
};

}  // namespace

double Trial::score() const {
  if (!problem.empty() || gains.empty()) return std::numeric_limits<double>::lowest();
  double sum = 0;
  for (const auto& [row, values] : gains) sum += median(values);
  return sum / static_cast<double>(gains.size());
}

std::pair<double, double> Trial::extremes() const {
  std::vector<double> medians = {0};
  for (const auto& [row, values] : gains) medians.push_back(median(values));
  const auto [worst, best] = std::ranges::minmax(medians);
  return {worst, best};
}

double Trial::error() const {
  double sum = 0;
  for (const auto& [row, values] : gains) {
    if (values.size() < 3) return std::numeric_limits<double>::max();
    const auto error = error_of_median(values);
    sum += error * error;
  }
  return std::sqrt(sum) / static_cast<double>(gains.size());
}

void add_gains(const Result& base, const Result& now, Trial& trial) {
  for (const auto& of : base.cases) {
    const auto other = std::ranges::find(now.cases, of.key, &Case::key);
    if (is_canary(of) || other == now.cases.end()) continue;
    for (const auto& [name, metric] : of.metrics) {
      const auto shown = shown_metric(of, name);
      if (!shown.judged) continue;
      auto logs = duets_of(of, *other, name).logs;
      if (logs.empty()) logs = logs_in_turns(of, *other, name);
      for (const auto log : logs) {
        trial.gains[of.key + " " + name].push_back(shown.better == "higher" ? log : -log);
      }
    }
  }
}

Tuned search_settings(const std::vector<Variables>& candidates, Trials& trials) {
  return Search(candidates, trials).run();
}

double gain_of(const SeriesChange& series) {
  const auto log = std::log(series.ratio.estimate);
  return series.better == "higher" ? log : -log;
}

std::string speed_in_words(double times) {
  return significant(times, 3) + (times < 1 ? " of the speed" : " times as fast");
}

std::string gain_in_words(const SeriesChange& series) {
  const auto times = [&](double ratio) { return series.better == "higher" ? ratio : 1 / ratio; };
  auto text = speed_in_words(times(series.ratio.estimate));
  if (const auto& interval = series.ratio.interval) {
    const auto [low, high] = std::minmax({times((*interval)[0]), times((*interval)[1])});
    text += fmt::format(" ({} to {})", significant(low, 3), significant(high, 3));
  }
  return text;
}

std::vector<std::string> in_words(const TuneVerdict& verdict) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const SeriesChange& row, const std::string& how) {
    lines.push_back(fmt::format("{} {}: {}", what, name_of(row), how));
  };
  for (const auto& row : verdict.helps) add("helps", row, gain_in_words(row));
  for (const auto& row : verdict.costs) add("costs", row, gain_in_words(row));
  for (const auto& row : verdict.undecided) {
    const auto least = least_speed(row);
    if (!least) {
      add("no verdict", row, "may lose any amount: " + row.why);
      continue;
    }
    add("no verdict", row,
        gain_in_words(row) +
            (*least < 1 ? fmt::format(", may lose up to {:.0f} %", 100 * (1 - *least)) : ""));
  }
  return lines;
}

std::string why_not_in_words(const TuneVerdict& verdict, const Comparison& comparison) {
  switch (verdict.outcome) {
    case TuneOutcome::confirmed:
    case TuneOutcome::unconfirmed:
      break;
    case TuneOutcome::refuted:
      return "fresh launches show no gain" +
             (verdict.undecided.empty()
                  ? std::string()
                  : fmt::format("; {} undecided", counted(verdict.undecided.size(), "row")));
    case TuneOutcome::losing:
      return fmt::format("the losses are as large as the gains: {}: {}",
                         name_of(verdict.costs.front()), gain_in_words(verdict.costs.front()));
    case TuneOutcome::missing: {
      const auto of = std::ranges::find_if(comparison.series, [](const SeriesChange& row) {
        return row.change == Change::missing || row.change == Change::failed;
      });
      return name_of(*of) +
             (of->change == Change::failed ? ": " + of->why : " could not be measured");
    }
    case TuneOutcome::incomparable:
      return comparison.incomparable;
  }
  return "";
}

std::string settings_in_words(const Variables& settings) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings) words.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

TuneVerdict verdict_on_settings(const Comparison& comparison) {
  TuneVerdict verdict;
  double sum = 0;
  double seeming = 0;
  bool any_missing = false;
  for (const auto& series : folded_rows(comparison)) {
    if (series.change == Change::improved) verdict.helps.push_back(series);
    if (series.change == Change::regressed) verdict.costs.push_back(series);
    if (series.change == Change::inconclusive) verdict.undecided.push_back(series);
    any_missing |= series.change == Change::missing || series.change == Change::failed;
    if (series.change == Change::improved || series.change == Change::regressed) {
      sum += gain_of(series);
    }
    if (series.change == Change::inconclusive) seeming += gain_of(series);
  }
  const auto larger = [](const SeriesChange& a, const SeriesChange& b) {
    return std::abs(gain_of(a)) > std::abs(gain_of(b));
  };
  std::ranges::stable_sort(verdict.helps, larger);
  std::ranges::stable_sort(verdict.costs, larger);
  const bool loses =
      !verdict.costs.empty() && (sum <= 0 || verdict.helps.empty() ||
                                 -gain_of(verdict.costs.front()) >= gain_of(verdict.helps.front()));
  if (!comparison.incomparable.empty()) {
    verdict.outcome = TuneOutcome::incomparable;
  } else if (any_missing) {
    verdict.outcome = TuneOutcome::missing;
  } else if (loses) {
    verdict.outcome = TuneOutcome::losing;
  } else if (!verdict.helps.empty()) {
    verdict.outcome = TuneOutcome::confirmed;
  } else if (!verdict.undecided.empty() && seeming > 0) {
    verdict.outcome = TuneOutcome::unconfirmed;
  }
  return verdict;
}

}  // namespace ucxbench
