#include "harness/report/dashboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/history/causes.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/statistics.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/dashboard_page.hpp"
#include "harness/report/dashboard_rows.hpp"
#include "harness/report/dashboard_words.hpp"
#include "harness/report/drawn.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t worst_shown = 12;  // rows named on the first screen
constexpr const char* study_name = "verdict-study.json";
constexpr std::uint64_t most_bytes_of_study = std::uint64_t{1} << 26U;
constexpr double chance_of_p = 0.05;

std::string utc_text(const char* form) {
  const auto now = std::time(nullptr);
  std::tm time{};
  ::gmtime_r(&now, &time);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &time)};
}

Json run_json(const HistoryRun* run, const std::filesystem::path& page) {
  if (run == nullptr) return nullptr;
  const auto& record = run->record();
  auto day = record.started.substr(0, 16);
  std::ranges::replace(day, 'T', ' ');
  return {{"id", record.id},
          {"day", day},
          {"commit", short_commit(*run)},
          {"dirty", record.dirty},
          {"state", record.state},
          {"reason", record.reason},
          {"href", link_to(run->path, page)}};
}

/// The last run before anything that stands as a loss; null if the newest run's environment has no
/// such run.
const HistoryRun* last_good(const DashboardStream& of, const std::vector<DashboardRow>& rows) {
  const auto& runs = of.stream.runs;
  const auto& night = of.night;
  auto bound = runs.size();
  for (const auto& row : rows) {
    if (row.is_excused()) continue;
    for (const auto& loss : row.losses) bound = std::min(bound, loss.index);
    if (!row.has_lost()) continue;
    const auto base = of.stream.place_of(night.base_of(*row.night));
    bound = std::min(bound, base ? *base + 1 : runs.size() - 1);
  }
  // Of the newest, nobody knows.
  const bool open = night.count(Change::inconclusive) + night.count(Change::missing) > 0;
  if (open || night.count(Change::unchanged) + night.count(Change::improved) == 0) {
    bound = std::min(bound, runs.size() - 1);
  }
  std::set<const HistoryRun*> flawed;
  for (const auto& [run, key, metric] : night.without_figure) flawed.insert(run);
  const HistoryRun* good = nullptr;
  for (const auto place : of.stream.segments.back()) {
    if (place < bound && runs[place]->is_complete() && !flawed.contains(runs[place])) {
      good = runs[place];
    }
  }
  return good;
}

/// The rows that regressed, by the run with which that began: where it was good, and what came in
/// between.
Json standing_json(const DashboardStream& of, const std::filesystem::path& page) {
  struct Began {
    const HistoryRun* base = nullptr;
    std::size_t rows = 0;
  };
  const auto earlier = [](const HistoryRun* a, const HistoryRun* b) {
    return std::pair(a->seconds, a) < std::pair(b->seconds, b);
  };
  std::map<const HistoryRun*, Began, decltype(earlier)> found(earlier);
  for (const auto& row : of.night.rows) {
    if (row.since == nullptr || row.excused) continue;
    auto& began = found[row.since];
    const auto* base = of.night.base_of(row);
    if (began.base == nullptr || base->seconds > began.base->seconds) began.base = base;
    ++began.rows;
  }
  auto told = Json::array();
  for (const auto& [since, began] : found) {
    told.push_back({{"since", run_json(since, page)},
                    {"base", run_json(began.base, page)},
                    {"rows", began.rows},
                    {"suspects", text_or_null(suspects_between(*began.base, *since))},
                    {"same_commit", began.base->record().commit == since->record().commit}});
  }
  return told;
}

using FactsOfRows = std::vector<CauseFacts>;

/// FactsOfRows of the rows that `is`; those without a line have none.
template <typename Is>
FactsOfRows facts_of_rows(const std::vector<DashboardRow>& rows, const Result* newest, Is is) {
  FactsOfRows facts;
  for (const auto& row : rows) {
    if (row.line == nullptr || !is(row)) continue;
    const Case* of = nullptr;
    if (newest != nullptr) {
      const auto found = std::ranges::find(newest->cases, row.key, &Case::key);
      if (found != newest->cases.end()) of = &*found;
    }
    facts.push_back(facts_of(row.key, row.line->label.title, of));
  }
  return facts;
}

/// By the run at which they began, the losses that still stand: who, what they have in common,
/// suspects.
Json history_json(const DashboardStream& of, const std::vector<DashboardRow>& rows,
                  const Result* newest) {
  std::map<std::size_t, std::vector<std::pair<const DashboardRow*, ChangePoint>>> found;
  for (const auto& row : rows) {
    for (const auto& loss : row.losses) found[loss.index].emplace_back(&row, loss);
  }
  auto told = Json::array();
  for (const auto& [at, losses] : found) {
    std::set<const DashboardRow*> lost;
    auto shown = Json::array();
    double worst = 1;
    bool provisional = false;
    for (const auto& [row, loss] : losses) {
      lost.insert(row);
      if (shown.size() < worst_shown) shown.push_back(row->shown);
      const auto ratio = loss.after / loss.before;
      if (std::abs(std::log(ratio)) > std::abs(std::log(worst))) worst = ratio;
      provisional = provisional || loss.provisional;
    }
    const auto is_lost = [&](const DashboardRow& row) { return lost.contains(&row); };
    const auto is_other = [&](const DashboardRow& row) { return !lost.contains(&row); };
    const auto segment = std::ranges::find_if(of.stream.segments, [&](const auto& places) {
      return std::ranges::binary_search(places, at);
    });
    const auto before = *std::prev(std::ranges::lower_bound(*segment, at));
    const auto& run = *of.stream.runs[at];
    told.push_back({{"day", day_of(run)},
                    {"left_out", losses.size() - shown.size()},
                    {"rows", std::move(shown)},
                    {"provisional", provisional},
                    {"worst", change_text(worst)},
                    {"causes", causes_of(facts_of_rows(rows, newest, is_lost),
                                         facts_of_rows(rows, newest, is_other))},
                    {"suspects", text_or_null(suspects_between(*of.stream.runs[before], run))}});
  }
  return told;
}

std::vector<Cause> common_causes(const std::vector<DashboardRow>& rows, const Result* newest) {
  return causes_of(
      facts_of_rows(rows, newest,
                    [](const DashboardRow& row) { return row.has_lost() && !row.is_excused(); }),
      facts_of_rows(rows, newest, [](const DashboardRow& row) {
        return row.is(Change::unchanged) || row.is(Change::improved);
      }));
}

/// Of the newest run: how many cases have which state for which reason, the most frequent first.
Json not_measured(const RunRecord& run) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::size_t>> found;
  for (const auto& [key, of] : run.cases) {
    if (of.state == CaseState::measured) continue;
    const std::pair why(to_string(of.state), of.reason.empty() ? "no reason given" : of.reason);
    auto known = std::ranges::find(found, why, [](const auto& each) { return each.first; });
    if (known == found.end()) known = found.insert(known, {why, 0});
    ++known->second;
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& each) { return each.second; });
  auto told = Json::array();
  for (const auto& [why, count] : found) told.push_back({why.first, why.second, count});
  return told;
}

/// Of each of the last runs what its middle row took, by that row's median of these runs; null
/// without any. And their segments.
Json spark_json(const DashboardStream& of) {
  const auto& runs = of.stream.runs;
  const auto first = runs.size() - std::min(last_runs, runs.size());
  std::vector<std::vector<double>> ratios(runs.size() - first);
  for (const auto& line : of.lines) {
    std::vector<double> values;
    for (auto i = first; i < runs.size(); ++i) {
      if (line.values[i]) values.push_back(line.values[i]->median);
    }
    if (line.is_canary || values.empty()) continue;
    const auto middle = median(values);
    for (auto i = first; i < runs.size(); ++i) {
      if (!line.values[i]) continue;
      const auto value = line.values[i]->median;
      ratios[i - first].push_back(line.label.better == "lower" ? value / middle : middle / value);
    }
  }
  auto times = Json::array(), segments = Json::array();
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    times.push_back(ratios[i].empty() ? Json() : Json(median(ratios[i])));
    segments.push_back(runs[first + i]->place.segment);
  }
  return {{"times", std::move(times)}, {"segments", std::move(segments)}};
}

Json control_json(const std::vector<std::pair<const HistoryRun*, SelfComparison>>& runs) {
  if (runs.empty()) return nullptr;
  std::size_t tests = 0, below = 0, alarms = 0;
  auto points = Json::array();
  for (const auto& [run, of] : runs) {
    tests += of.tests;
    below += of.below;
    alarms += of.alarms > 0;
    points.push_back({{"day", day_of(*run)},
                      {"share", static_cast<double>(of.below) / static_cast<double>(of.tests)},
                      {"alarm", of.alarms > 0}});
  }
  return {{"runs", runs.size()},
          {"alarms", alarms},
          {"alpha", runs.back().second.alpha},
          {"tests", tests},
          {"share", static_cast<double>(below) / static_cast<double>(tests)},
          {"chance", chance_of_p},
          {"points", std::move(points)}};
}

Json entries_json(const Triage& triage) {
  auto entries = Json::array();
  for (const auto& entry : triage.entries) {
    entries.push_back({{"id", entry.id},
                       {"state", name_of(triage_states, entry.state)},
                       {"reason", entry.reason},
                       {"owner", entry.owner},
                       {"expiry", entry.expiry},
                       {"expired", entry.expired}});
  }
  return entries;
}

/// What ci/verdict-study measured on one of these machines, beside the folder of the runs; null if
/// it has not. Of windows over the same launches only what they found is said: they bound nothing.
Json study_json(const RunTree& tree, std::vector<LeftOut>& left_out) {
  std::error_code ignored;
  const auto folder = std::filesystem::canonical(tree.folder, ignored);
  const auto file = folder.parent_path() / study_name;
  if (!std::filesystem::is_regular_file(file, ignored)) return nullptr;
  try {
    const auto study = read_json(read_given(file, most_bytes_of_study, "give a study"));
    const auto& aa = study.at("aa");
    const auto machine = study.at("machine").at("id").get<std::string>();
    const auto is_of = [&](const HistoryRun& run) { return run.record().machine == machine; };
    if (std::ranges::none_of(tree.runs, is_of)) return nullptr;
    std::set<double> slowdowns;
    auto power = Json::object();
    for (const auto& row : study.value("power", Json::array())) {
      const auto slowdown = row.at("slowdown").get<double>();
      slowdowns.insert(slowdown);
      const auto how = text_at(row, "/how", "") +
                       (row.value("windows", true) ? ", windows over the same launches" : "");
      power[how][fmt::format("{:g}", 100 * slowdown)] = fmt::format(
          "{} of {}", row.at("detected").get<std::size_t>(), row.at("of").get<std::size_t>());
    }
    auto percents = Json::array();
    for (const auto slowdown : slowdowns) percents.push_back(fmt::format("{:g}", 100 * slowdown));
    return {{"machine", machine},
            {"comparisons", aa.at("comparisons").get<std::size_t>()},
            {"false_alarms", aa.at("false_alarms").get<std::size_t>()},
            {"upper95", aa.at("upper95").get<double>()},
            {"power", std::move(power)},
            {"slowdowns", std::move(percents)}};
  } catch (const std::exception& error) {
    left_out.emplace_back(
        study_name, fmt::format("is not what ci/verdict-study writes ({})", why_not_json(error)));
    return nullptr;
  }
}

/// The floors that changes had to pass, as the middle one of all rows.
Json middle_floor(const std::vector<DashboardStream>& streams) {
  std::vector<double> floors;
  for (const auto& of : streams) {
    for (const auto& row : of.night.rows) {
      const auto& series = row.series;
      if (series.base && series.now && series.floor > 0) floors.push_back(series.floor);
    }
  }
  return floors.empty() ? Json() : Json(median(floors));
}

}  // namespace

Dashboard::Dashboard(const std::filesystem::path& folder, const std::filesystem::path& base) {
  if (!std::filesystem::is_directory(folder)) {
    throw Failure(Exit::usage, fmt::format("'{}' is not a directory; give one with runs, such as "
                                           "results/runs",
                                           folder.string()));
  }
  if (!base.empty()) base_entry_ = entry_of_run(base);
  tree_ = read_tree(folder);
  if (tree_.runs.empty() && tree_.left_out.empty()) {
    throw Failure(Exit::usage, fmt::format("'{}' has no runs: give a folder of files written by "
                                           "ucx-bench --json",
                                           folder.string()));
  }
  judge(base);
}

void Dashboard::judge(const std::filesystem::path& base) {
  triage_ = read_triage(tree_.folder, utc_text("%Y-%m-%d"));
  judge_.emplace(tree_, triage_, loaded_);
  const HistoryRun* chosen = nullptr;
  if (!base.empty()) {
    base_run_ = {.path = base, .entry = &base_entry_, .seconds = base_entry_.record->seconds()};
    chosen = &base_run_;
    for (const auto& run : tree_.runs) {
      if (run.record().id == base_run_.record().id) chosen = &run;
    }
  }
  std::size_t number = 0;
  for (auto& stream : streams_of(tree_)) {
    auto& of = streams_.emplace_back(DashboardStream{.stream = std::move(stream)});
    of.lines = lines_of(of.stream, tree_.left_out);
    of.night = judge_->compare_newest(of.stream, chosen);
    leave_out(of.stream, of.lines, of.night.without_figure);
    for (auto& line : of.lines) {
      line.number = number++;
      find_changes(of.stream, line);
    }
  }
  std::ranges::stable_sort(streams_, std::greater(), [](const DashboardStream& of) {
    const auto& night = of.night;
    return std::tuple(!night.lost().empty(), night.count_lost(), night.count(Change::missing),
                      night.count(Change::inconclusive), !night.trouble.empty());
  });
}

std::shared_ptr<const Result> Dashboard::load(const HistoryRun* run) {
  if (run == nullptr) return nullptr;
  try {
    return loaded_.of(run->path);
  } catch (const Failure& failure) {
    tree_.left_out.emplace_back(run->path.filename().string(), failure.what());
    return nullptr;
  }
}

Json Dashboard::stream_json(const DashboardStream& of, const std::filesystem::path& page) {
  const auto& night = of.night;
  const auto base = load(night.base), newest = load(night.newest);
  const auto rows = dashboard_rows(of, triage_, newest.get());
  const auto causes = common_causes(rows, newest.get());
  const auto steps = next_steps_of(night);
  auto history = history_json(of, rows, newest.get());
  const auto* good = last_good(of, rows);

  auto counts = Json::array(), worst = Json::array(), shown = Json::array();
  auto commands = Json::array(), failed = Json::array();
  for (const auto change : shown_changes) {
    counts.push_back({to_string(change), night.count(change)});
  }
  const HistoryRun* first_lost = nullptr;
  for (const auto& row : rows) {
    shown.push_back(row.shown);
    if ((row.has_lost() || row.is(Change::missing)) && worst.size() < worst_shown) {
      worst.push_back(row.shown);
    }
    if (row.night == nullptr || row.night->since == nullptr) continue;
    if (night.base_of(*row.night) != night.base) continue;
    if (first_lost == nullptr || row.night->since->seconds < first_lost->seconds) {
      first_lost = row.night->since;
    }
  }
  if (night.base != nullptr && (night.count_lost() > 0 || !night.lost().empty())) {
    for (const auto& [what, command] : commands_after(
             *night.base, *night.newest, first_lost == nullptr ? *night.newest : *first_lost)) {
      commands.push_back({what, command});
    }
  }
  const auto& runs = of.stream.runs;
  for (auto i = runs.size() - std::min(last_runs, runs.size()); i < runs.size(); ++i) {
    if (!runs[i]->is_complete()) failed.push_back(run_json(runs[i], page));
  }
  Json json = {{"name", of.stream.name()},
               {"spark", spark_json(of)},
               {"to_do", to_do(of, rows, causes, history, steps)},
               {"labels", night.newest->record().labels},
               {"trouble", night.trouble},
               {"counts", std::move(counts)},
               {"excused", night.count_excused()},
               {"standing", standing_json(of, page)},
               {"new", run_json(night.newest, page)},
               {"base", run_json(night.base, page)},
               {"good", run_json(good, page)},
               {"differences", night.told ? night.told->differences : std::vector<std::string>()},
               {"host_changed", night.told ? night.told->host_changed : ""},
               {"alpha", night.told ? Json(night.told->alpha) : Json()},
               {"tests", night.told ? Json(night.told->tests) : Json()},
               {"worst", std::move(worst)},
               {"history", std::move(history)},
               {"steps", steps},
               {"causes", causes},
               {"rows", std::move(shown)},
               {"commands", std::move(commands)},
               {"failed", std::move(failed)},
               {"not_measured", not_measured(night.newest->record())},
               {"runs", runs.size()},
               {"segments", of.stream.segments.size()},
               {"control", control_json(judge_->compare_with_themselves(of.stream, last_runs))},
               {"findings", nullptr}};
  const auto told = night.told.value_or(Comparison());
  json["base_run"] = base ? run_to_draw(*base, told.impossible[0]) : Json();
  json["new_run"] = newest ? run_to_draw(*newest, told.impossible[1]) : Json();
  json["base_ranks"] = base_ranks_json(told);
  if (newest) json["findings"] = findings_of(*newest);
  return json;
}

Json Dashboard::document(const std::filesystem::path& page) {
  const auto most = most_samples_of_a_launch(streams_);
  auto samples = Json::object(), streams = Json::array(), left_out = Json::array();
  std::size_t lines = 0;
  for (const auto& of : streams_) {
    add_samples(of, loaded_, most, samples, tree_.left_out);
    streams.push_back(stream_json(of, page));
    lines += of.lines.size();
  }
  if (tree_.read > 0 || judge_->has_learned()) tree_.save();
  const auto study = study_json(tree_, tree_.left_out);
  for (const auto& problem : triage_.problems) {
    tree_.left_out.emplace_back(Triage::file_name, problem);
  }
  for (const auto& entry : triage_.entries) {
    if (entry.used) continue;
    tree_.left_out.emplace_back(
        Triage::file_name,
        fmt::format("'{}' is for no row: ids are a case and a metric", entry.id));
  }
  for (const auto& [file, why] : tree_.left_out) left_out.push_back({file, why});
  auto [data, intervals_kept] = page_data(streams_, samples, page);
  const auto [headline, worst] = headline_of(streams_);
  return {{"headline", headline},
          {"worst", worst},
          {"nothing_decided", nothing_decided_in(streams_)},
          {"streams", std::move(streams)},
          {"entries", entries_json(triage_)},
          {"statuses", names_in(triage_states)},
          {"data", std::move(data)},
          {"intervals_kept", number_or_null(intervals_kept)},
          {"runs", tree_.runs.size()},
          {"lines", lines},
          {"folder", tree_.folder.string()},
          {"made", utc_text("%Y-%m-%d %H:%M UTC")},
          {"last", last_runs},
          {"most", most},
          {"noise", middle_floor(streams_)},
          {"study", study},
          {"problems", std::move(left_out)}};
}

}  // namespace ucxbench
