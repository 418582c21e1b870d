#include "harness/analysis/history/night_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <ranges>

#include "harness/analysis/comparison/halves.hpp"
#include "harness/core/read_json.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_loaded = 4;
constexpr double chance_p =
    0.05;  // of an uncorrected p below itself, where launches are independent
constexpr std::size_t least_of_half = 4;  // of a half: with three no p is as small

// In the index.
constexpr std::array<std::pair<NightVerdict, char>, 8> verdict_letters = {
    {{NightVerdict::none, ' '},
     {NightVerdict::failed, 'f'},
     {NightVerdict::regressed, 'r'},
     {NightVerdict::improved, 'i'},
     {NightVerdict::inconclusive, '?'},
     {NightVerdict::unchanged, '='},
     {NightVerdict::flawed_base, 'b'},
     {NightVerdict::impossible, 'x'}}};

using NamedRows = std::vector<const SeriesChange*>;

template <typename Is>
bool any_row(const NamedRows& rows, Is is) {
  return std::ranges::any_of(rows, [&](const SeriesChange* row) { return is(*row); });
}

/// One verdict of the rows of one name: no run is good in which a pair lost; and none is known to
/// be, while of a pair nobody knows. Empty without rows.
std::optional<Change> verdict_of(const NamedRows& rows) {
  if (rows.empty()) return std::nullopt;
  for (const auto loss : {Change::failed, Change::regressed}) {
    if (any_row(rows, [&](const auto& row) { return row.change == loss; })) return loss;
  }
  for (const auto* row : rows) {
    if (!row->pair && row->change != Change::unchanged) return row->change;
  }
  const bool open = any_row(rows, [](const auto& row) {
    return row.pair && (row.change == Change::inconclusive || row.change == Change::missing);
  });
  return open ? Change::inconclusive : Change::unchanged;
}

bool is_impossible(const NamedRows& rows) {
  return any_row(rows, [](const auto& row) {
    return row.reason == Reason::impossible && !row.base_is_flawed;
  });
}

NightVerdict night_verdict_of(const NamedRows& rows) {
  const auto verdict = verdict_of(rows);
  if (!verdict) return NightVerdict::none;
  if (*verdict == Change::failed) return NightVerdict::failed;
  if (*verdict == Change::regressed) return NightVerdict::regressed;
  // From a figure that does not count no level follows.
  if (any_row(rows, [](const auto& row) { return row.base_is_flawed; })) {
    return NightVerdict::flawed_base;
  }
  if (is_impossible(rows)) return NightVerdict::impossible;
  switch (*verdict) {
    case Change::improved:
      return NightVerdict::improved;
    case Change::inconclusive:
      return NightVerdict::inconclusive;
    case Change::unchanged:
      return NightVerdict::unchanged;
    default:
      return NightVerdict::none;
  }
}

/// Of the runs that are counted most often the newest; null for none.
const HistoryRun* most_frequent(const std::vector<const HistoryRun*>& runs) {
  std::map<const HistoryRun*, std::size_t> counts;
  for (const auto* run : runs) ++counts[run];
  const HistoryRun* most = nullptr;
  for (const auto& [run, count] : counts) {
    if (most == nullptr ||
        std::pair(count, run->seconds) > std::pair(counts.at(most), most->seconds)) {
      most = run;
    }
  }
  return most;
}

std::optional<SelfComparison> compare_halves(const Result& run) {
  const bool has_two = std::ranges::any_of(run.cases, [](const Case& of) {
    return std::ranges::any_of(
        of.metrics, [](const auto& metric) { return metric.second.launch_medians.size() > 1; });
  });
  if (!has_two) return std::nullopt;
  const auto [a, b] = halves_in_turns(run);
  const auto told = compare(a, b);
  SelfComparison found{.alpha = told.alpha};
  for (const auto& row : folded_rows(told)) {
    found.alarms += row.change == Change::regressed || row.change == Change::improved;
    // Of pairs of ranks only the worst is told, whose p is the smallest of many.
    if (!row.base || !row.now || row.pair) continue;
    if (std::min(row.base_launches, row.new_launches) < least_of_half) continue;
    ++found.tests;
    found.below += row.p < chance_p;
  }
  return found;
}

}  // namespace

std::shared_ptr<const Result> LoadedRuns::of(const std::filesystem::path& file) {
  const auto found = std::ranges::find(kept_, file, [](const auto& kept) { return kept.first; });
  auto run =
      found != kept_.end() ? found->second : std::make_shared<const Result>(read_result(file));
  if (found != kept_.end()) kept_.erase(found);
  kept_.emplace_back(file, run);
  if (kept_.size() > most_loaded) kept_.pop_front();
  return run;
}

std::string NightRow::case_name() const {
  return series.key + (series.pair ? " " + in_words(*series.pair) : "");
}

bool has_lost(const SeriesChange& series) {
  return series.change == Change::failed || series.change == Change::regressed;
}

std::size_t NightComparison::count(Change change) const {
  std::size_t count = 0;
  for (const auto& row : rows) {
    if (row.excused || row.series.change != change) continue;
    count += row.series.pair ? row.series.pair->stands_for : 1;
  }
  return count;
}

std::size_t NightComparison::count_excused() const {
  return static_cast<std::size_t>(std::ranges::count(rows, true, &NightRow::excused));
}

std::shared_ptr<const NightJudge::Told> NightJudge::ask(const HistoryRun& base,
                                                        const HistoryRun& now, bool across) {
  auto told = std::make_shared<Told>();
  try {
    const auto old_run = loaded_.of(base.path), new_run = loaded_.of(now.path);
    told->comparison = compare(*old_run, *new_run, {.across_environments = across});
    if (!told->comparison->incomparable.empty()) {
      told->trouble = "incomparable: " + told->comparison->incomparable;
    }
    told->rows = folded_rows(*told->comparison);
    for (const auto& row : told->rows) told->by_name[{row.key, row.metric}].push_back(&row);
  } catch (const std::exception& error) {
    told->trouble = why_not_json(error);
  }
  return told;
}

std::map<RowName, NightVerdict> NightJudge::verdicts(const HistoryRun& base,
                                                     const HistoryRun& now) {
  if (&base == &now) return {};
  const auto rows = rows_in(now.record());
  auto& known = now.entry->verdicts;
  auto found = known.find(base.record().id);
  if (found == known.end()) {
    const auto told = ask(base, now, false);
    if (!told->trouble.empty()) return {};
    std::string text;
    for (const auto& [key, metric, parameters] : rows) {
      const auto of = told->by_name.find({key, metric});
      const auto verdict = night_verdict_of(of == told->by_name.end() ? NamedRows() : of->second);
      text += std::ranges::find(verdict_letters, verdict, &std::pair<NightVerdict, char>::first)
                  ->second;
    }
    found = known.emplace(base.record().id, text).first;
    learned_ = true;
  }
  std::map<RowName, NightVerdict> verdicts;
  for (std::size_t at = 0; at < std::min(rows.size(), found->second.size()); ++at) {
    const auto& [key, metric, parameters] = rows[at];
    const auto letter = std::ranges::find(verdict_letters, found->second[at],
                                          &std::pair<NightVerdict, char>::second);
    if (letter != verdict_letters.end()) verdicts[{key, metric}] = letter->first;
  }
  return verdicts;
}

/// The newest run's rows, each against its own base.
void NightJudge::compare_by_chain(NightComparison& night, const Chain& chain) {
  const auto awaited = chain.awaited(*night.newest);
  std::vector<const HistoryRun*> bases;
  for (const auto& [name, of] : awaited) bases.push_back(of.base);
  const auto* usual = bases.empty() ? &chain.last() : most_frequent(bases);
  std::map<const HistoryRun*, std::shared_ptr<const Told>> asked;
  const auto told_by = [&](const HistoryRun* run) -> const Told& {
    auto& told = asked[run];
    if (!told) told = ask(*run, *night.newest, false);
    return *told;
  };
  const auto rows_by = [&](const HistoryRun* run, const RowName& name) {
    const auto& told = told_by(run);
    const auto found = told.by_name.find(name);
    return !told.trouble.empty() || found == told.by_name.end() ? NamedRows() : found->second;
  };
  night.base = usual;
  night.told = told_by(usual).comparison;
  night.trouble = told_by(usual).trouble;
  if (!night.trouble.empty()) return;

  std::set<RowName> names;
  for (const auto& [name, of] : awaited) {
    names.insert(name);
    const auto near = rows_by(of.base, name), far = rows_by(of.anchor, name);
    const auto lost = [](const NamedRows& rows) {
      const auto verdict = verdict_of(rows);
      return verdict == Change::failed || verdict == Change::regressed;
    };
    const bool slowly = lost(far) && !lost(near);
    const auto& told = slowly ? far : near;
    const bool stands = of.since != nullptr && verdict_of(told) == Change::inconclusive;
    for (const auto* series : told) {
      NightRow row{.series = *series, .base = slowly ? of.anchor : of.base};
      if (stands && series->change == Change::inconclusive) {
        row.series.change = Change::regressed;
        row.undecided = true;
      }
      const auto* const first = row.series.change == Change::failed ? of.failing : of.since;
      if (has_lost(row.series)) row.since = first == nullptr ? night.newest : first;
      night.rows.push_back(std::move(row));
    }
  }
  for (const auto& series : told_by(usual).rows) {
    if (names.contains({series.key, series.metric}) || series.change == Change::missing) continue;
    night.rows.push_back({.series = series});
  }
  std::vector<const HistoryRun*> lost;
  for (const auto& row : night.rows) {
    if (has_lost(row.series) && row.base != nullptr) lost.push_back(row.base);
    if (is_impossible({&row.series})) {
      night.without_figure.emplace(night.newest, row.series.key, row.series.metric);
    }
  }
  if (!lost.empty()) {
    night.base = most_frequent(lost);
    night.told = told_by(night.base).comparison;
  }
  night.without_figure.insert(chain.without_figure().begin(), chain.without_figure().end());
  // Of ranks that take turns on one GPU there is no row.
  std::erase_if(night.rows,
                [](const NightRow& row) { return row.series.reason == Reason::time_sliced; });
}

/// NamedRows that lost, and of which triage.yaml says that they may.
void NightJudge::excuse(NightComparison& night) {
  for (auto& row : night.rows) {
    if (!has_lost(row.series) && row.series.change != Change::missing) continue;
    const auto* entry = triage_.entry_for(row.id());
    const auto& run = row.since == nullptr ? *night.newest : *row.since;
    row.excused = entry != nullptr && entry->excuses(run.record().started);
  }
}

NightComparison NightJudge::compare_newest(const RunStream& stream, const HistoryRun* base) {
  NightComparison night{.newest = stream.runs.back()};
  if (stream.side == "base" && base == nullptr) {
    night.trouble = "the base side of ab: its verdict is that of the new side";
    return night;
  }
  if (base == night.newest) {
    night.trouble = "it is the base itself";
    return night;
  }
  const bool of_ab = base == nullptr && stream.side == "new";
  if (of_ab) {
    for (const auto& run : tree_.runs) {
      if (run.record().id == night.newest->record().other) base = &run;
    }
  }
  if (base != nullptr) {
    // The two sides of ab differ on purpose.
    const auto told = ask(*base, *night.newest, of_ab);
    night.base = base;
    night.told = told->comparison;
    night.trouble = told->trouble;
    for (const auto& row : told->rows) night.rows.push_back({.series = row});
  } else {
    const Chain chain(
        stream, [&](const HistoryRun& old, const HistoryRun& now) { return verdicts(old, now); },
        [&](const std::string& row, const HistoryRun& run) {
          const auto* entry = triage_.entry_for(row);
          return entry != nullptr && entry->state == TriageState::accepted &&
                 entry->covers(run.record().started);
        });
    if (chain.empty()) {
      night.trouble =
          fmt::format("nothing to compare with: {}",
                      stream.runs.size() == 1
                          ? "its only run so far"
                          : "no complete run before it has its environment: see the lane below");
      return night;
    }
    compare_by_chain(night, chain);
  }
  excuse(night);
  return night;
}

std::vector<std::pair<const HistoryRun*, SelfComparison>> NightJudge::compare_with_themselves(
    const RunStream& stream, std::size_t most) {
  std::vector<std::pair<const HistoryRun*, SelfComparison>> found;
  std::size_t seen = 0;
  for (const auto* run : stream.runs | std::views::reverse) {
    if (!run->is_complete()) continue;
    if (seen++ == most) break;
    auto& known = run->entry->itself;
    if (!known) {
      try {
        known = compare_halves(*loaded_.of(run->path)).value_or(SelfComparison());
        learned_ = true;
      } catch (const std::exception&) {
        continue;  // it has no rows, which is said elsewhere
      }
    }
    if (known->tests > 0) found.emplace_back(run, *known);
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace ucxbench
