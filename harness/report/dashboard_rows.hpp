#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/report/dashboard.hpp"

namespace ucxbench {

/// Runs whose samples stand on a page.
inline constexpr std::size_t last_runs = 20;

/// A row of a dashboard's table: what the comparison and its history say of a line, or of rows that
/// have none.
struct DashboardRow {
  const NightRow* night = nullptr;    ///< null where it is not compared
  const HistoryLine* line = nullptr;  ///< null of a pair of ranks
  const TriageEntry* triage = nullptr;
  std::string key;
  std::vector<ChangePoint> losses{};  ///< that still stand, and are not excused
  std::vector<std::string> history{};
  Json shown{};  ///< as the page has it

  bool is(Change change) const { return night != nullptr && night->series.change == change; }
  bool has_lost() const { return night != nullptr && ucxbench::has_lost(night->series); }
  bool is_excused() const { return night != nullptr && night->excused; }
};

/// Those that lost, are missing or improved first, each sorted by effect over noise; lines without
/// a comparison follow. `newest` is the newest run in full, or null.
std::vector<DashboardRow> dashboard_rows(const DashboardStream& of, Triage& triage,
                                         const Result* newest);

/// What the launches of a row look like: "steady", "drifting", "bimodal", "outliers" or "?", and
/// why. Drift and modes are what `compare` has found; outliers are a rule of thumb for the eye, no
/// verdict.
std::pair<std::string, std::string> shape_of(const SeriesChange* series,
                                             const std::vector<double>& medians);

/// "2026-11-29", and with the time "2026-11-29 08:00".
std::string day_of(const HistoryRun& run);

/// The first ten digits of its commit, or "?".
std::string short_commit(const HistoryRun& run);

}  // namespace ucxbench
