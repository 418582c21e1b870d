#include "harness/analysis/history/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ucxbench {
namespace {

using LineName = std::tuple<std::string, std::string, std::string>;

/// By case and a metric's title, the unit that most runs have; the newest of equals.
std::map<std::pair<std::string, std::string>, std::string> units_in(const RunStream& stream) {
  std::map<std::pair<std::string, std::string>,
           std::map<std::string, std::pair<std::size_t, std::size_t>>>
      seen;
  for (std::size_t i = 0; i < stream.runs.size(); ++i) {
    const auto& record = stream.runs[i]->record();
    for (const auto& [key, of] : record.cases) {
      for (const auto& [metric, value] : of.values) {
        const auto& label = *record.label_of(key, metric);
        auto& [count, newest] = seen[{key, label.title}][label.unit];
        ++count;
        newest = i;
      }
    }
  }
  std::map<std::pair<std::string, std::string>, std::string> units;
  for (const auto& [name, counts] : seen) {
    units[name] =
        std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; })->first;
  }
  return units;
}

std::string why_no_value(const HistoryRun& run, const HistoryLine& line) {
  const auto* of = run.record().find(line.key);
  if (of == nullptr) {
    return run.is_complete() ? "missing" : "missing: the run " + run.record().state;
  }
  if (of->parameters != line.parameters) return "measured with other parameters";
  if (of->state == CaseState::measured) return of->reason.empty() ? "no value" : of->reason;
  return to_string(of->state) + ": " + (of->reason.empty() ? "no reason given" : of->reason);
}

/// From the line's first value on.
void note_gaps(const RunStream& stream, HistoryLine& line) {
  bool started = false;
  for (std::size_t i = 0; i < stream.runs.size(); ++i) {
    started = started || line.values[i];
    if (started && !line.values[i]) line.notes[i] = why_no_value(*stream.runs[i], line);
  }
}

bool is_worse(const HistoryLine& line, double before, double after) {
  return after != before && (after > before) == (line.label.better == "lower");
}

}  // namespace

std::string RunStream::name() const {
  return what + (side.empty() ? "" : ", " + side) + " on " + machine +
         (branch.empty() ? "" : ", branch " + branch);
}

std::optional<std::size_t> RunStream::place_of(const HistoryRun* run) const {
  const auto found = std::ranges::find(runs, run);
  if (run == nullptr || found == runs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - runs.begin());
}

std::vector<RunStream> streams_of(const RunTree& tree) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, RunStream> found;
  for (const auto& run : tree.runs) {
    const auto& place = run.place;
    auto& stream = found[{place.machine, place.branch, place.what, place.side}];
    if (stream.runs.empty()) {
      stream = {place.machine, place.branch, place.what, place.side};
    }
    stream.segments.resize(std::max(stream.segments.size(), place.segment + 1));
    stream.segments[place.segment].push_back(stream.runs.size());
    stream.runs.push_back(&run);
  }
  std::vector<RunStream> streams;
  for (auto& [name, stream] : found) {
    std::ranges::sort(stream.segments, {}, [](const auto& places) { return places.back(); });
    streams.push_back(std::move(stream));
  }
  return streams;
}

std::vector<HistoryLine> lines_of(const RunStream& stream, std::vector<LeftOut>& left_out) {
  const auto units = units_in(stream);
  std::vector<HistoryLine> lines;
  std::map<LineName, std::size_t> numbers;
  for (std::size_t i = 0; i < stream.runs.size(); ++i) {
    const auto& run = *stream.runs[i];
    std::vector<std::string> other_units;
    for (const auto& [key, of] : run.record().cases) {
      for (const auto& [metric, value] : of.values) {
        const auto& label = *run.record().label_of(key, metric);
        const auto& usual = units.at({key, label.title});
        if (label.unit != usual) {
          other_units.push_back(
              fmt::format("{} {} in {}, not {}", key, label.title, label.unit, usual));
          continue;
        }
        const auto [known, fresh] =
            numbers.emplace(LineName(key, metric, of.parameters), lines.size());
        if (fresh) {
          lines.push_back({.key = key,
                           .metric = metric,
                           .parameters = of.parameters,
                           .label = label,
                           .is_canary = of.is_canary});
          lines.back().values.resize(stream.runs.size());
        }
        lines[known->second].values[i] = value;
      }
    }
    if (other_units.empty()) continue;
    left_out.emplace_back(
        run.path.filename().string(),
        fmt::format(
            "the unit changed: {}{}; these values are left out", other_units.front(),
            other_units.size() > 1 ? fmt::format(" and {} more", other_units.size() - 1) : ""));
  }
  for (auto& line : lines) note_gaps(stream, line);
  return lines;
}

void leave_out(const RunStream& stream, std::vector<HistoryLine>& lines,
               const std::set<NoFigure>& without_figure) {
  if (without_figure.empty()) return;
  for (auto& line : lines) {
    for (std::size_t i = 0; i < stream.runs.size(); ++i) {
      if (!line.values[i] || !without_figure.contains({stream.runs[i], line.key, line.metric})) {
        continue;
      }
      line.values[i].reset();
      line.notes[i] = "no figure that counts, left out: see the findings of the run";
    }
  }
}

void find_changes(const RunStream& stream, HistoryLine& line) {
  for (const auto& segment : stream.segments) {
    std::vector<std::size_t> places;
    std::vector<double> medians;
    for (const auto place : segment) {
      if (!line.values[place]) continue;
      places.push_back(place);
      medians.push_back(line.values[place]->median);
    }
    for (auto change : change_points(medians)) {
      change.index = places[change.index];
      line.changes.push_back(change);
    }
  }
}

std::vector<ChangePoint> standing_losses(const RunStream& stream, const HistoryLine& line) {
  const auto& newest = stream.segments.back();
  std::vector<ChangePoint> latest;
  std::ranges::copy_if(line.changes, std::back_inserter(latest), [&](const ChangePoint& change) {
    return std::ranges::binary_search(newest, change.index);
  });
  if (latest.empty()) return {};
  const double now = latest.back().after;
  const auto last = *std::find_if(newest.rbegin(), newest.rend(),
                                  [&](std::size_t place) { return line.values[place]; });
  const double value = line.values[last]->median;
  std::erase_if(latest, [&](const ChangePoint& change) {
    return !is_worse(line, change.before, change.after) || !is_worse(line, change.before, now) ||
           std::abs(value - change.before) <= std::abs(value - change.after);
  });
  return latest;
}

}  // namespace ucxbench
