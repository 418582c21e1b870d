#pragma once

#include <map>
#include <span>
#include <string>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// The documents that scripts draw (run_script_on). All that they show is read, refused and judged
// before.

/// "µs" for us.
std::string unit_text(const std::string& unit);

/// "latency, µs".
std::string metric_title(const std::string& title, const std::string& unit);

/// A run file without what no page or picture shows: of each launch of a case it has the number and
/// what the target of one-sided operations did ("target_progress"). Cases of `impossible`
/// (Comparison::impossible) have no figures.
Json run_to_draw(const Result& run, const std::map<std::string, std::string>& impossible = {});

/// For `page`: {"run" (with "quality", and "of_quality" of each finding), "file" (its
/// name, or "-"), "folder" (where its transfer log is)}.
Json page_to_draw(const Result& run);

/// For `comparison`: {"comparison" (comparison_json), "verdicts": {"counts": [verdict,
/// number], "rows" (texts: verdict, case, metric, base, new, change, interval, floor, p, why, by)},
/// "runs": [base, new], each {"run",
/// "file", "folder"} as above}.
Json comparison_to_draw(const Comparison& comparison, const Result& base, const Result& now);

/// For `plot`: {"runs": [{"run", "file", "folder"}]}.
Json plot_to_draw(std::span<const Result> runs);

}  // namespace ucxbench
