#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {

/// In the order in which their numbers are told.
inline constexpr std::array shown_changes = {
    Change::failed,  Change::regressed, Change::improved, Change::inconclusive,
    Change::missing, Change::added,     Change::unchanged};

/// "2 regressed, 46 unchanged", or why there is no verdict at all.
std::string summary_of(const Comparison& comparison);

/// What stands last in each report of a comparison without any verdict, with what to do: "nothing
/// was decided: 10 of 10 rows are inconclusive; …". Empty where a row has a verdict.
std::string nothing_decided(const Comparison& comparison);

/// A line for each set of labels that rows have: "labels: vm (4 rows)".
std::vector<std::string> lines_of_labels(const Comparison& comparison);

/// "16 duets", or "24 launches in turns": of each side, "24, 23 launches" where they differ. "-"
/// where nothing was judged.
std::string judged_by(const SeriesChange& series);

/// That medians of all launches differ from those that were compared, and where most; empty where
/// they do not.
std::string plain_medians_of(const Comparison& comparison);

/// Why it is so, and what is odd about its launches; empty where nothing is said.
std::string explanation_of(const SeriesChange& series);

/// The change in units of what the series' own noise lets count; empty where nothing was compared.
std::optional<double> effect_of(const SeriesChange& series);

/// "+1.2 %"; "–" for nothing.
std::string change_text(const std::optional<double>& ratio);

/// For a page, a row's texts: "base", "new" ("?" where not known), "delta", "interval", "p",
/// "floor", "effect", "why", "by" ("–" for nothing); and "better" and "in_turns" (or null).
Json comparison_cells(const SeriesChange& series);

/// One row per series.
Grid grid_of(const Comparison& comparison);

/// For the terminal, `verbose` with the share of each placement, and for a step summary. With
/// `brief`, of many rows that say nothing new the first ones.
std::string comparison_table(const Comparison& comparison, bool verbose = false,
                             bool brief = false);
std::string comparison_markdown(const Comparison& comparison);

/// JUnit's XML: a test case for each row of the table, in the class of its case. A loss is a
/// failure, what the new run lacks an error, and a row without a verdict is skipped. Runs that
/// cannot be compared are one error. The host and the time are those of `now`.
std::string comparison_junit(const Comparison& comparison, const Result& now);

/// comparison_json's "base_ranks".
Json base_ranks_json(const Comparison& comparison);

/// One of comparison_json's "series".
Json series_json(const SeriesChange& series);

/// {"alpha", "tests", "incomparable", "host_changed", "differences", "placements",
/// "plain_medians" (where they differ from these), "next_steps", "nothing_decided", "base_ranks"
/// ({key: [[rank in the new run, the same in the base run], …]}, where they differ), "impossible"
/// ({"base", "new"}: {key: why no machine gives a figure of that case}), "canaries",
/// "series": [{"key", "metric", "pair" (of a row of one pair of ranks: {"src", "dst", "src_host",
/// "dst_host", "slowest_of", "stands_for", "text"}, see RowPair), "verdict", "labels",
/// "transport_used"
/// ({"base", "new"}), "by"
/// ("launches" or "duets"), "base", "new" (medians of all launches), "matched_base", "matched_new"
/// (which `ratio` is of), "base_launches", "new_launches", "ratio", "interval", "p", "p_corrected",
/// "floor", "base_drift", "new_drift" (relative, first launch to last), "base_modes", "new_modes"
/// ({"low", "high", "share_high"}), "launches_wanted" (of each run, unless something else stands
/// against a verdict, too), "reason", "why"}]}, a canary like a series; unknown, or not there, is
/// null.
Json comparison_json(const Comparison& comparison);

}  // namespace ucxbench
