#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What a case says of one of its metrics (ShownMetric).
struct MetricLabel {
  std::string title, unit, better;
  bool operator==(const MetricLabel&) const = default;
};

/// Of a metric in one run, positive and in its unit.
struct RecordedValue {
  double median = 0;
  std::optional<std::array<double, 2>> interval{};
};

struct CaseRecord {
  CaseState state = CaseState::measured;
  std::string reason{};
  std::string parameters{};  ///< a fingerprint: the same for the same ones
  bool is_canary = false;
  bool has_pairs = false;  ///< launches tell of several pairs of ranks in one record
  std::size_t labels = 0;  ///< in RunRecord::labels_of_metrics
  std::map<std::string, RecordedValue> values{};  ///< of the metrics that are judged
};

/// What a history keeps of a run file: where and when it ran, and every metric's median and
/// interval.
struct RunRecord {
  std::string id{}, started{}, state{}, reason{}, machine{}, commit{};
  bool dirty = false;
  std::vector<std::string> command{}, labels{};
  std::string other{};  ///< the id of the other side of an `ab`; else empty
  Result head{};        ///< the run without what is large, from which its place follows
  std::vector<std::pair<std::string, CaseRecord>> cases{};  ///< by key, in the run's order
  std::vector<std::map<std::string, MetricLabel>> labels_of_metrics{};
  std::vector<std::string> problems{};  ///< values that are none

  std::int64_t seconds() const;  ///< `started`, since 1970
  /// nullptr where the run does not have it.
  const CaseRecord* find(const std::string& key) const;
  const MetricLabel* label_of(const std::string& key, const std::string& metric) const;

  mutable std::unordered_map<std::string, std::size_t> places{};  ///< find()'s own
};

/// Throws Failure(Exit::usage) where a run cannot stand in a history (its clock was wrong), and
/// another std::exception where its file is damaged. `now` in seconds since 1970.
RunRecord record_of(const Result& run, std::int64_t now);

Json to_json(const RunRecord& record);

/// Throws std::exception where it is not as to_json writes it.
RunRecord run_record_from(Json json);

}  // namespace ucxbench
