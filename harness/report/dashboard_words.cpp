#include "harness/report/dashboard_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/report/comparison_view.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_reasons = 6;

std::string rows_in_words(std::size_t count) { return counted(count, "row"); }

}  // namespace

std::pair<std::string, std::string> headline_of(const std::vector<DashboardStream>& streams) {
  std::map<Change, std::size_t> counts;
  std::size_t judged = 0, excused = 0;
  std::vector<std::string> told;  // begins with what befell the new runs
  for (const auto& of : streams) {
    judged += !of.night.rows.empty();
    excused += of.night.count_excused();
    if (const auto lost = of.night.lost(); !lost.empty()) add_once(told, lost);
    for (const auto change : shown_changes) counts[change] += of.night.count(change);
  }
  const bool any_lost = !told.empty();
  const auto befell = any_lost ? join(told, "; ") : "";
  if (judged == 0) {
    return any_lost ? std::pair<std::string, std::string>(befell, "failed")
                    : std::pair<std::string, std::string>("nothing to compare yet", "none");
  }
  told.clear();
  for (const auto change : shown_changes) {
    if (counts[change] > 0) told.push_back(fmt::format("{} {}", counts[change], to_string(change)));
  }
  if (excused > 0) told.push_back(fmt::format("{} excused", excused));
  auto worst = Change::unchanged;
  for (const auto change : {Change::improved, Change::inconclusive, Change::missing,
                            Change::regressed, Change::failed}) {
    if (counts[change] > 0) worst = change;
  }
  if (any_lost) worst = Change::failed;
  return {(any_lost ? befell + "; " : "") + join(told, ", ") +
              (judged == streams.size()
                   ? ""
                   : fmt::format(" in {} of {} kinds of run", judged, streams.size())),
          std::string(to_string(worst))};
}

std::string nothing_decided_in(const std::vector<DashboardStream>& streams) {
  std::map<Change, std::size_t> counts;
  std::size_t rows = 0;
  for (const auto& of : streams) {
    rows += of.night.rows.size();
    for (const auto& row : of.night.rows) ++counts[row.series.change];
    if (!of.night.lost().empty()) return "";  // which is decided
  }
  if (rows == 0 || counts[Change::failed] + counts[Change::regressed] + counts[Change::improved] +
                           counts[Change::unchanged] >
                       0) {
    return "";
  }
  std::vector<std::string> told;
  for (const auto change : {Change::inconclusive, Change::missing, Change::added}) {
    if (counts[change] == 0) continue;
    const auto of_rows = fmt::format(" of {} {}", rows_in_words(rows), rows == 1 ? "is" : "are");
    told.push_back(
        fmt::format("{}{} {}", counts[change], told.empty() ? of_rows : "", to_string(change)));
  }
  return fmt::format(
      "nothing was decided: {}; what to do stands below the verdicts of each kind of "
      "run",
      join(told, ", "));
}

std::vector<std::string> next_steps_of(const NightComparison& night) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const auto& row : night.rows) {
    const auto& series = row.series;
    const auto why = explanation_of(series);
    const bool open = series.change == Change::inconclusive || series.change == Change::missing;
    if (!open || why.empty() || series.doubt != Doubt::none) continue;
    auto known = std::ranges::find(reasons, why, &std::pair<std::string, std::size_t>::first);
    if (known == reasons.end()) known = reasons.insert(known, {why, 0});
    ++known->second;
  }
  std::ranges::stable_sort(reasons, std::greater(), &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> steps;
  if (night.told) {
    if (auto plain = plain_medians_of(*night.told); !plain.empty()) {
      steps.push_back(std::move(plain));
    }
    steps.insert(steps.end(), night.told->next_steps.begin(), night.told->next_steps.end());
  }
  for (std::size_t at = 0; at < std::min(most_reasons, reasons.size()); ++at) {
    steps.push_back(rows_in_words(reasons[at].second) + ": " + reasons[at].first);
  }
  return steps;
}

std::string to_do(const DashboardStream& of, const std::vector<DashboardRow>& rows,
                  const std::vector<Cause>& causes, const Json& history,
                  const std::vector<std::string>& steps) {
  const auto& night = of.night;
  if (night.rows.empty() && of.stream.side == "base") {
    return "Nothing to do here: see the card of the new side.";
  }
  if (!night.lost().empty()) return fmt::format("Find out why: {}.", night.lost());
  if (night.rows.empty()) {
    if (!night.newest->is_complete()) {
      return fmt::format("Measure again: the newest run is {}.", night.newest->record().state);
    }
    return night.base != nullptr ? "Choose another base with --base."
                                 : "Measure the same once more: the next run has a verdict.";
  }
  const auto counted_rows = [&](Change change) {
    return static_cast<std::size_t>(std::ranges::count_if(
        rows, [&](const DashboardRow& row) { return row.is(change) && !row.is_excused(); }));
  };
  const auto first = [&](Change change) -> const DashboardRow& {
    return *std::ranges::find_if(
        rows, [&](const DashboardRow& row) { return row.is(change) && !row.is_excused(); });
  };
  if (const auto count = counted_rows(Change::failed); count > 0) {
    const auto& worst = first(Change::failed);
    return fmt::format("Find out why {} failed, first {} {}: {}.", rows_in_words(count), worst.key,
                       worst.shown.at("metric").get<std::string>(),
                       worst.shown.at("why").get<std::string>());
  }
  if (const auto count = counted_rows(Change::regressed); count > 0) {
    const auto& worst = first(Change::regressed);
    const auto* since = worst.night->since;
    return fmt::format("Look into {} that regressed, first {} {} ({}){}{}.", rows_in_words(count),
                       worst.key, worst.shown.at("metric").get<std::string>(),
                       worst.shown.at("delta").get<std::string>(),
                       since == nullptr ? "" : ", since " + day_of(*since),
                       causes.empty() ? "" : "; what they share: " + causes.front().first);
  }
  if (const auto count = counted_rows(Change::missing); count > 0) {
    return fmt::format("Find out why the new run lacks {} that the base run has.",
                       rows_in_words(count));
  }
  if (!history.empty()) {
    const auto& oldest = history.front();
    return fmt::format(
        "Look into {} that have been worse since {}.",
        rows_in_words(oldest.at("rows").size() + oldest.at("left_out").get<std::size_t>()),
        oldest.at("day").get<std::string>());
  }
  if (const auto count = night.count(Change::inconclusive); count > 0) {
    return (steps.empty() ? rows_in_words(count) + " inconclusive: measure again with more launches"
                          : steps.front()) +
           ".";
  }
  const auto improved = night.count(Change::improved);
  return improved > 0 ? fmt::format("Nothing to do: {} improved.", rows_in_words(improved))
                      : "Nothing to do.";
}

}  // namespace ucxbench
