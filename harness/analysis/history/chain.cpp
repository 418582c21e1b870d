#include "harness/analysis/history/chain.hpp"

#include <algorithm>

#include "harness/analysis/comparison/pairs.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_nights = 400;  // of an environment, the last ones: a year of nights
constexpr int confirmed = 3;  // runs in a row whose gain, or whose missing verdict, moves a base
constexpr std::size_t recent = 20;  // complete runs: a row that none of them has is not missed

}  // namespace

void RowStanding::begin(const HistoryRun& run) {
  base = anchor = &run;
  proven = false;
  since = nullptr;
  gains = doubts = 0;
}

void RowStanding::judge(const HistoryRun& run, NightVerdict near, NightVerdict far, bool accepted) {
  const auto either = [&](NightVerdict verdict) { return near == verdict || far == verdict; };
  if (either(NightVerdict::failed)) {
    if (failing == nullptr) failing = &run;
    return;
  }
  failing = nullptr;
  if (near == NightVerdict::flawed_base) return begin(run);
  if (near == NightVerdict::impossible) return;
  if (either(NightVerdict::regressed)) {
    if (accepted) return begin(run);
    if (since == nullptr) since = &run;
    gains = doubts = 0;
    // No night lost anything that counts, all of them together did.
    if (near != NightVerdict::regressed) base = anchor;
  } else if (near == NightVerdict::unchanged) {
    base = &run;
    proven = true;
    since = nullptr;
    gains = doubts = 0;
  } else if (near == NightVerdict::improved) {
    since = nullptr;
    doubts = 0;
    // One lucky run is no level that all others have to reach.
    if (++gains == confirmed) begin(run);
  } else if (!proven && since == nullptr) {
    if (++doubts == confirmed) begin(run);
  }
}

std::vector<std::tuple<std::string, std::string, std::string>> rows_in(const RunRecord& run) {
  std::vector<std::tuple<std::string, std::string, std::string>> rows;
  for (const auto& [key, of] : run.cases) {
    if (of.is_canary) continue;
    for (const auto& [metric, value] : of.values) rows.emplace_back(key, metric, of.parameters);
    if (of.values.empty() || !of.has_pairs) continue;
    for (const char* metric : {pair_rate, pair_time}) rows.emplace_back(key, metric, of.parameters);
  }
  return rows;
}

Chain::Chain(const RunStream& stream, const JudgeRows& judge, const Accepts& accepts) {
  const auto& segment = stream.segments.back();
  for (const auto place : segment) {
    if (place + 1 < stream.runs.size() && stream.runs[place]->is_complete()) {
      runs_.push_back(stream.runs[place]);
    }
  }
  if (runs_.size() > most_nights) runs_.erase(runs_.begin(), runs_.end() - most_nights);
  for (std::size_t number = 0; number < runs_.size(); ++number) go_on(number, judge, accepts);
}

RowStanding* Chain::find(const RowId& row) {
  const auto found = numbers_.find(row);
  return found == numbers_.end() ? nullptr : &rows_[found->second].second;
}

void Chain::go_on(std::size_t number, const JudgeRows& judge, const Accepts& accepts) {
  const auto& run = *runs_[number];
  std::map<const HistoryRun*, std::map<RowName, NightVerdict>> verdicts;
  const auto verdict = [&](const HistoryRun* base, const RowName& row) {
    if (!verdicts.contains(base)) verdicts.emplace(base, judge(*base, run));
    const auto& of_base = verdicts.at(base);
    const auto found = of_base.find(row);
    return found == of_base.end() ? NightVerdict::none : found->second;
  };
  for (const auto& row : rows_in(run.record())) {
    const auto& [key, metric, parameters] = row;
    auto* of = find(row);
    if (of == nullptr) {
      numbers_.emplace(row, rows_.size());
      rows_.emplace_back(row, RowStanding{.base = &run, .anchor = &run, .seen = number});
      continue;
    }
    const auto near = verdict(of->base, {key, metric});
    if (near == NightVerdict::impossible || near == NightVerdict::flawed_base) {
      without_figure_.emplace(near == NightVerdict::impossible ? &run : of->base, key, metric);
    }
    of->judge(run, near, verdict(of->anchor, {key, metric}), accepts(key + " " + metric, run));
    of->seen = number;
  }
  for (auto& [row, of] : rows_) {
    const auto& [key, metric, parameters] = row;
    const auto* known = run.record().find(key);
    if (known == nullptr || known->state != CaseState::failed || known->parameters != parameters) {
      continue;
    }
    if (of.failing == nullptr) of.failing = &run;
    of.seen = number;
  }
}

std::vector<std::pair<RowName, RowStanding>> Chain::awaited(const HistoryRun& newest) const {
  const auto& record = newest.record();
  const auto listed = rows_in(record);
  const std::set<RowId> has(listed.begin(), listed.end());
  std::vector<std::pair<RowName, RowStanding>> found;
  std::set<RowName> names;
  for (const bool missed : {false, true}) {
    for (const auto& [row, of] : rows_) {
      const auto& [key, metric, parameters] = row;
      const RowName name(key, metric);
      if (missed) {
        const auto* known = record.find(key);
        // Measured with other parameters it is another row, not a missing one.
        const bool replaced =
            known != nullptr && !known->values.empty() && known->parameters != parameters;
        if (names.contains(name) || replaced || of.seen + recent < runs_.size()) continue;
      } else if (!has.contains(row)) {
        continue;
      }
      if (names.insert(name).second) found.emplace_back(name, of);
    }
  }
  return found;
}

}  // namespace ucxbench
