#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/comparison/streams.hpp"
#include "harness/analysis/history/run_record.hpp"

namespace ucxbench {

/// What a run says that is compared with itself, launches in turns.
struct SelfComparison {
  std::size_t tests = 0;
  std::size_t below = 0;   ///< tests whose own p is below what chance makes of 5 %
  std::size_t alarms = 0;  ///< rows called regressed or improved
  double alpha = 0;
};

/// What an index keeps of one file: its record, or what is wrong with it; neither of what is no
/// run.
struct IndexEntry {
  std::array<std::int64_t, 2> stamp{};  ///< size, and time of change in ns
  std::optional<RunRecord> record{};
  std::string problem{};
  std::map<std::string, std::string> verdicts{};  ///< by the base's id (NightJudge)
  std::optional<SelfComparison> itself{};
};

/// A run of a history. Its entry is the tree's, or of a run that is not in it the caller's.
struct HistoryRun {
  std::filesystem::path path{};
  IndexEntry* entry = nullptr;
  StreamPlace place{};
  std::string environment{};  ///< environment_in_words
  std::int64_t seconds = 0;   ///< when it began, since 1970

  const RunRecord& record() const { return *entry->record; }
  bool is_complete() const { return record().state == "complete"; }
};

/// A file's name, and what is wrong with it.
using LeftOut = std::pair<std::string, std::string>;

/// A folder of runs, MACHINE/YYYY-MM/*.json. What cannot be used is named and left out.
struct RunTree {
  /// Beside the runs: what is known of them, by path, size and time of change. Only what is new is
  /// read.
  static constexpr const char* index_name = ".dashboard-index.json";

  std::filesystem::path folder;
  std::map<std::string, IndexEntry> files{};
  std::vector<HistoryRun> runs{};  ///< those that have a place in a stream, oldest first
  std::vector<LeftOut> left_out{};
  std::size_t read = 0;  ///< files that were not in the index

  /// Writes the index, only to save time: a folder that cannot be written to does without.
  void save() const;
};

RunTree read_tree(const std::filesystem::path& folder);

/// A run file outside of a tree. Throws Failure(Exit::usage) where it cannot be used.
IndexEntry entry_of_run(const std::filesystem::path& file);

}  // namespace ucxbench
