#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "harness/analysis/history/lines.hpp"

namespace ucxbench {

/// A case of a made night: its value, or why there is none.
struct MadeCase {
  std::string key;
  double value = 1;
  CaseState state = CaseState::measured;
  std::string parameters = "same";
};

/// Made nights of one stream, a record of each. What points to them must not outlive them.
class MadeNights {
 public:
  HistoryRun& add(const std::vector<MadeCase>& cases, std::size_t segment = 0) {
    const auto number = entries_.size() + 1;
    auto& entry = entries_.emplace_back();
    entry.record = RunRecord{.id = "night-" + std::to_string(number),
                             .started = "2025-01-" + std::string(number < 10 ? "0" : "") +
                                        std::to_string(number) + "T00:00:00Z",
                             .state = "complete",
                             .machine = "box",
                             .commit = std::string(8, static_cast<char>('0' + number % 10))};
    entry.record->labels_of_metrics = {{{"latency_us", {"latency", "us", "lower"}}}};
    for (const auto& of : cases) {
      CaseRecord record{.state = of.state, .reason = "why", .parameters = of.parameters};
      if (of.state == CaseState::measured) record.values["latency_us"] = {.median = of.value};
      entry.record->cases.emplace_back(of.key, record);
    }
    auto& run = runs_.emplace_back(HistoryRun{.path = entry.record->id + ".json",
                                              .entry = &entry,
                                              .seconds = static_cast<std::int64_t>(number)});
    run.place.segment = segment;
    return run;
  }

  RunStream stream() const {
    RunStream stream{.machine = "box", .what = "pingpong"};
    for (const auto& run : runs_) {
      stream.segments.resize(std::max(stream.segments.size(), run.place.segment + 1));
      stream.segments[run.place.segment].push_back(stream.runs.size());
      stream.runs.push_back(&run);
    }
    std::ranges::sort(stream.segments, {}, [](const auto& places) { return places.back(); });
    return stream;
  }

 private:
  std::deque<IndexEntry> entries_;
  std::deque<HistoryRun> runs_;
};

}  // namespace ucxbench
