#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/history/chain.hpp"
#include "harness/analysis/history/triage.hpp"

namespace ucxbench {

/// Run files in full, the newest few of those asked for: they are large.
class LoadedRuns {
 public:
  /// Throws Failure(Exit::usage).
  std::shared_ptr<const Result> of(const std::filesystem::path& file);

 private:
  std::deque<std::pair<std::filesystem::path, std::shared_ptr<const Result>>> kept_;
};

/// A row of the newest run of a stream.
struct NightRow {
  SeriesChange series;
  const HistoryRun* base = nullptr;   ///< its own; null: the comparison's
  const HistoryRun* since = nullptr;  ///< the first run that had lost, of a row that lost
  bool undecided = false;             ///< a loss stands of which this run does not say otherwise
  bool excused = false;               ///< triage.yaml says that the loss is right

  /// The case, and the pair of ranks if it is of one.
  std::string case_name() const;
  std::string id() const { return case_name() + " " + series.metric; }
};

/// Failed or regressed.
bool has_lost(const SeriesChange& series);

/// Of a stream's newest run.
struct NightComparison {
  const HistoryRun* newest = nullptr;
  /// Or null; where rows have several, that of most that regressed, else of most.
  const HistoryRun* base = nullptr;
  std::optional<Comparison> told{};  ///< with that base
  std::string trouble{};             ///< why there is none
  std::vector<NightRow> rows{};
  std::set<NoFigure> without_figure{};

  const HistoryRun* base_of(const NightRow& row) const {
    return row.base == nullptr ? base : row.base;
  }
  /// That the new run failed, whatever it has measured; else empty.
  std::string lost() const { return told ? told->lost : ""; }
  /// Rows with this verdict that are not excused, with those of pairs for which others stand.
  std::size_t count(Change change) const;
  std::size_t count_lost() const { return count(Change::failed) + count(Change::regressed); }
  std::size_t count_excused() const;
};

/// What `compare` says of runs of a tree. What a chain needs of it is asked once for each two runs,
/// and the index keeps it.
class NightJudge {
 public:
  NightJudge(RunTree& tree, Triage& triage, LoadedRuns& loaded)
      : tree_(tree), triage_(triage), loaded_(loaded) {}

  /// `base` is taken whatever it is; null: the base of `ab` is its other side, one of the tree's
  /// runs, and else each row has its own, by the chain.
  NightComparison compare_newest(const RunStream& stream, const HistoryRun* base);

  /// The last of its complete runs, at most `most`, that can be compared with themselves, oldest
  /// first.
  std::vector<std::pair<const HistoryRun*, SelfComparison>> compare_with_themselves(
      const RunStream& stream, std::size_t most);

  /// Whether anything was asked that the index did not have.
  bool has_learned() const { return learned_; }

 private:
  struct Told {
    std::optional<Comparison> comparison{};
    std::string trouble{};
    std::vector<SeriesChange> rows{};  ///< folded_rows
    std::map<RowName, std::vector<const SeriesChange*>> by_name{};
  };
  std::shared_ptr<const Told> ask(const HistoryRun& base, const HistoryRun& now, bool across);
  std::map<RowName, NightVerdict> verdicts(const HistoryRun& base, const HistoryRun& now);
  void compare_by_chain(NightComparison& night, const Chain& chain);
  void excuse(NightComparison& night);

  RunTree& tree_;
  Triage& triage_;
  LoadedRuns& loaded_;
  bool learned_ = false;
};

}  // namespace ucxbench
