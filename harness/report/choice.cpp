#include "harness/report/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/analysis/best_set.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

struct Figure {
  const char* metric;
  const char* group;  ///< null: latency_in_words()
  const char* column;
};
constexpr Figure figures[] = {{"latency_us", nullptr, "p50, us"},
                              {"bandwidth_GBps", "received", "GB/s"}};

/// What a case is apart from its set and size.
std::string key_of(const Case& of) {
  auto parameters = of.parameters;
  for (const auto& axis : of.shows.axes) parameters.erase(axis.name);
  for (const auto* name : {"transports", "net_devices"}) parameters.erase(name);
  return of.benchmark + parameters.dump();
}

std::string loss_in_words(const std::array<double, 2>& interval) {
  return fmt::format(" ({:.0f}..{:.0f} %)", 100 * interval[0], 100 * interval[1]);
}

std::string auto_loss(const std::optional<MeasuredSet>& choice_of_ucx, const MeasuredSet& best) {
  if (!choice_of_ucx) return no_cell;
  if (choice_of_ucx->of == best.of) return share_text(0);
  const auto interval = loss_interval(*choice_of_ucx, best);
  if (!interval) return unknown_cell;  // of one launch nobody knows what is noise
  switch (standing_of(*choice_of_ucx, best)) {
    case Standing::as_good:
      return share_text(std::max(0.0, loss(*choice_of_ucx, best)));
    case Standing::worse:
      return share_text(loss(*choice_of_ucx, best)) + loss_in_words(*interval);
    case Standing::unknown:
      break;
  }
  return unknown_cell + loss_in_words(*interval);
}

/// With a mark where another one may be better.
std::string name_of_best(const MeasuredSet& best, const std::vector<MeasuredSet>& sets) {
  const bool sure = std::ranges::all_of(sets, [&](const MeasuredSet& set) {
    return set.of == best.of || told_apart(set, best) ||
           standing_of(best, set) == Standing::as_good;
  });
  return best.name + (sure ? "" : unknown_cell);
}

std::string crossover(const std::vector<std::pair<std::string, std::string>>& best_by_size) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < best_by_size.size();) {
    auto end = at;
    while (end < best_by_size.size() && best_by_size[end].second == best_by_size[at].second) ++end;
    const auto& [first, set] = best_by_size[at];
    const bool to_the_end = end == best_by_size.size();
    parts.push_back(set + (at == 0 && to_the_end ? " at every size"
                           : to_the_end          ? " from " + first
                           : at == 0             ? " up to " + best_by_size[end - 1].first
                           : end == at + 1
                               ? " at " + first
                               : " from " + first + " to " + best_by_size[end - 1].first));
    at = end;
  }
  return join(parts, ", ");
}

// What other cases of the run may have otherwise.
std::string way_of(const Json& parameters) {
  const auto comm = text_at(parameters, "/comm", "ucx");
  const auto mode = text_at(parameters, "/progress_mode", "poll");
  return (comm == "ucx" ? "" : ", by " + comm) + (mode == "poll" ? "" : ", " + mode);
}

std::vector<std::string> left_out_of(const Judged& run, const std::vector<const Case*>& cases) {
  std::map<std::string, std::size_t> all;                // by set
  std::vector<std::pair<std::string, std::string>> why;  // of a set, each once
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> sizes;
  for (const auto* of : cases) {
    const auto set = text_at(of->parameters, "/transports");
    ++all[set];
    const auto reason = why_unranked(run, *of);
    if (!reason) continue;
    const std::pair about(set, in_words(*reason, run, *of));
    if (!sizes.contains(about)) why.push_back(about);
    sizes[about].push_back(size_of(*of));
  }
  std::vector<std::string> parts;
  for (const auto& about : why) {
    const auto& at = sizes[about];
    const bool every = at.size() > 1 && at.size() == all[about.first];
    parts.push_back(fmt::format("not ranked: {} at {}: {}", about.first,
                                every ? "every size" : join(at, ", "), about.second));
  }
  return parts;
}

Choice choice_of(const Judged& run, std::vector<const Case*> cases) {
  const auto& some = cases.front()->parameters;
  Choice choice{.title = "best set, " + text_at(some, "/api", cases.front()->benchmark) + ", " +
                         join(texts_of(some.at("memory")), " to ") + way_of(some),
                .grid = {.columns = {{"", "size"}}, .rows = {}},
                .crossovers = {},
                .left_out = left_out_of(run, cases)};
  std::erase_if(cases, [&](const Case* of) { return why_unranked(run, *of); });
  if (cases.empty()) return choice;
  std::map<std::uint64_t, std::vector<const Case*>> by_size;
  for (const auto* of : cases) by_size[bytes_of(*of).value_or(0)].push_back(of);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [bytes, of_size] : by_size) rows.push_back({size_of(*of_size.front())});
  for (const auto& figure : figures) {
    const std::string group =
        figure.group != nullptr ? figure.group : latency_in_words(*cases.front());
    std::vector<std::pair<std::string, std::string>> best_by_size;
    bool known = true;
    auto row = rows.begin();
    for (const auto& [bytes, of_size] : by_size) {
      auto sets = measured_sets(of_size, figure.metric);
      std::optional<MeasuredSet> choice_of_ucx;
      if (const auto at = std::ranges::find(sets, "auto", &MeasuredSet::name); at != sets.end()) {
        choice_of_ucx = *at;
        std::erase_if(sets, [&](const MeasuredSet& set) {
          return !have_one_network(*set.of, *choice_of_ucx->of);
        });
      }
      if (sets.empty()) {
        row->insert(row->end(), 3, "-");
      } else {
        const auto& best = best_set(sets);
        const auto name = name_of_best(best, sets);
        best_by_size.emplace_back(row->front(), name);
        known = known && best.metric->ci95;
        row->insert(row->end(), {name, significant(best.p50(), 4), auto_loss(choice_of_ucx, best)});
      }
      ++row;
    }
    if (best_by_size.empty()) {
      for (auto& each : rows) each.resize(each.size() - 3);
      continue;
    }
    for (const auto* column : {"best set", figure.column, "auto loses"}) {
      choice.grid.columns.push_back({group, column});
    }
    if (known) {
      choice.crossovers.push_back(group + ": " + crossover(best_by_size));
    }
  }
  choice.grid.rows = std::move(rows);
  return choice;
}

}  // namespace

std::vector<Choice> choices_of(const Result& result) {
  std::map<std::string, std::vector<const Case*>> groups;
  std::vector<std::string> order;
  const Judged run(result);
  for (const auto& of : result.cases) {
    const auto shows = [&](const Figure& figure) {
      return of.metrics.contains(figure.metric) ||
             std::ranges::find(of.shows.metrics, figure.metric, &ShownMetric::name) !=
                 of.shows.metrics.end();
    };
    const bool compared = (!of.metrics.empty() || run.leaves_out(of)) &&
                          std::any_of(std::begin(figures), std::end(figures), shows);
    if (!compared || !of.parameters.contains("transports")) continue;
    const auto key = key_of(of);
    if (!groups.contains(key)) order.push_back(key);
    groups[key].push_back(&of);
  }
  std::vector<Choice> choices;
  for (const auto& key : order) {
    std::map<std::string, int> sets;
    for (const auto* of : groups[key]) ++sets[text_at(of->parameters, "/transports")];
    if (sets.contains("auto") && sets.size() >= 3) choices.push_back(choice_of(run, groups[key]));
  }
  return choices;
}

}  // namespace ucxbench
