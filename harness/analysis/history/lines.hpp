#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/analysis/history/change_points.hpp"
#include "harness/analysis/history/run_tree.hpp"

namespace ucxbench {

/// Runs of one machine and branch that were asked the same (StreamPlace), oldest first.
struct RunStream {
  std::string machine{}, branch{}, what{};
  std::string side{};  ///< of `ab`: "base", "new"; else empty
  std::vector<const HistoryRun*> runs{};
  /// The places of the runs of each environment, which may go and return; that of the newest run is
  /// last.
  std::vector<std::vector<std::size_t>> segments{};

  std::string name() const;
  /// Empty for a run of another stream, or for nullptr.
  std::optional<std::size_t> place_of(const HistoryRun* run) const;
};

/// Of the tree's runs, which must stay where they are.
std::vector<RunStream> streams_of(const RunTree& tree);

/// One metric of one case with one set of parameters; other parameters begin another line.
struct HistoryLine {
  std::string key, metric, parameters;
  MetricLabel label{};
  bool is_canary = false;
  std::vector<std::optional<RecordedValue>> values{};  ///< by run of its stream
  std::map<std::size_t, std::string> notes{};  ///< by run, why it has none: "skipped: no GPU"
  std::vector<ChangePoint> changes{};          ///< indices are those of runs
  std::size_t number = 0;                      ///< among all lines of a page

  std::string id() const { return key + " " + metric; }
};

/// All lines of a stream. Values in another unit than most runs have are left out and named once
/// for each run.
std::vector<HistoryLine> lines_of(const RunStream& stream, std::vector<LeftOut>& left_out);

/// A run, a case and a metric: what the run has of it is no figure that counts.
using NoFigure = std::tuple<const HistoryRun*, std::string, std::string>;

/// Takes out what is no level, such as what no machine gives.
void leave_out(const RunStream& stream, std::vector<HistoryLine>& lines,
               const std::set<NoFigure>& without_figure);

/// Finds the line's changes, within each segment by itself: what differs across is none of the
/// program.
void find_changes(const RunStream& stream, HistoryLine& line);

/// Change points for the worse in the newest segment, unless the line, or its last value, is back
/// where it was before.
std::vector<ChangePoint> standing_losses(const RunStream& stream, const HistoryLine& line);

}  // namespace ucxbench
