#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/history/lines.hpp"
#include "harness/analysis/history/night_comparison.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// A stream of a dashboard, judged.
struct DashboardStream {
  RunStream stream;
  std::vector<HistoryLine> lines{};
  NightComparison night{};
};

/// All that a page of a folder of runs shows (docs/method/history.md). The page's script draws it,
/// and judges nothing.
class Dashboard {
 public:
  /// Reads and judges the runs below `folder`, and brings the folder's index up to date; `base`
  /// (empty: none) is compared with instead of the runs' own bases. Throws Failure(Exit::usage)
  /// where there is no folder, no run, or no such base.
  Dashboard(const std::filesystem::path& folder, const std::filesystem::path& base);

  /// What the script draws, as JSON; links are relative to where `page` will be.
  Json document(const std::filesystem::path& page);

  /// The history for Apache Otava, as the page has it: CSV files, and the otava.yaml that reads
  /// them. Throws Failure(Exit::usage) where the folder cannot be written to.
  void write_otava(const std::filesystem::path& folder) const;

 private:
  void judge(const std::filesystem::path& base);
  Json stream_json(const DashboardStream& of, const std::filesystem::path& page);
  std::shared_ptr<const Result> load(const HistoryRun* run);

  RunTree tree_;
  Triage triage_;
  LoadedRuns loaded_;
  IndexEntry base_entry_;
  HistoryRun base_run_{};
  std::optional<NightJudge> judge_{};
  std::vector<DashboardStream> streams_;  ///< what needs a look first
};

}  // namespace ucxbench
