#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/analysis/history/lines.hpp"

namespace ucxbench {

// With what the newest run of a stream is compared, row by row: the last run in which the row had
// not lost (docs/method/history.md, "The base of a row").

/// What a comparison of two runs says of a row, as a chain of runs needs it.
enum class NightVerdict {
  none,  ///< nothing, or a new row
  failed,
  regressed,
  improved,
  inconclusive,
  unchanged,
  flawed_base,  ///< the base has no figure that counts, and the new run has
  impossible,   ///< the new run has none
};

/// Of one row, before the next run.
struct RowStanding {
  const HistoryRun* base = nullptr;     ///< the last in which the row was good
  const HistoryRun* anchor = nullptr;   ///< where its level began
  std::size_t seen = 0;                 ///< the last run that had it, of those gone through
  bool proven = false;                  ///< a run was found as good as the base
  const HistoryRun* since = nullptr;    ///< the first that regressed, of a loss that stands
  const HistoryRun* failing = nullptr;  ///< the first of those in a row whose case failed
  int gains = 0;                        ///< runs in a row that improved on the base
  int doubts = 0;  ///< runs in a row without a verdict, while the base is not proven

  /// `near` is the verdict against the base, `far` that against the anchor; `accepted`: the level
  /// of this run was said to be right.
  void judge(const HistoryRun& run, NightVerdict near, NightVerdict far, bool accepted);

 private:
  void begin(const HistoryRun& run);
};

/// A case and one of its metrics.
using RowName = std::pair<std::string, std::string>;

/// The rows that a run has: key, metric, fingerprint of the parameters. Other parameters begin
/// another row. Rows of pairs of ranks are there beside those of a case with one record for all
/// ranks.
std::vector<std::tuple<std::string, std::string, std::string>> rows_in(const RunRecord& run);

/// The verdicts of a new run (the second) against a base, by row.
using JudgeRows =
    std::function<std::map<RowName, NightVerdict>(const HistoryRun&, const HistoryRun&)>;
/// Whether the level of a row ("KEY METRIC") in a run is accepted.
using Accepts = std::function<bool(const std::string&, const HistoryRun&)>;

/// The complete runs of the newest run's segment before it, at most 400, gone through oldest first.
/// Each row of each is judged twice: against its base, and against its anchor, so that a loss which
/// comes slowly is found, too.
class Chain {
 public:
  Chain(const RunStream& stream, const JudgeRows& judge, const Accepts& accepts);

  bool empty() const { return runs_.empty(); }
  const HistoryRun& last() const { return *runs_.back(); }

  /// Of what the newest run has, or should have. A row that none of the last 20 complete runs has
  /// is no longer missed.
  std::vector<std::pair<RowName, RowStanding>> awaited(const HistoryRun& newest) const;

  /// What these runs have that is no level.
  const std::set<NoFigure>& without_figure() const { return without_figure_; }

 private:
  using RowId = std::tuple<std::string, std::string, std::string>;
  void go_on(std::size_t number, const JudgeRows& judge, const Accepts& accepts);
  RowStanding* find(const RowId& row);

  std::vector<const HistoryRun*> runs_;
  std::vector<std::pair<RowId, RowStanding>> rows_;  ///< in the order in which they began
  std::map<RowId, std::size_t> numbers_;
  std::set<NoFigure> without_figure_;
};

}  // namespace ucxbench
