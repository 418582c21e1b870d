#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// The ways of communicating that a run measured with one load: its transport sets, communication
/// devices and progress modes, held against each other. A list, for Result::ablation, with an entry
/// for each load and drawn metric: "title", "row", "metric", "about", "unit", "better"; "shown":
/// whether tables and pictures have it, of more than three loads the smallest one's time and the
/// largest one's rate; of a workload "parts", the names of what its ways' times are divided into:
/// of PART they have "PART_ms"; and "ways", the best one first. Of each way:
/// - "key" of its case, and "way", its name;
/// - "p50" with "ci95" and "interval", as the case has them;
/// - "ratio": how many times the best one's it is (ratio_of, from launch medians), with
///   "ratio_ci95", null of the best one itself and of few launches;
/// - "limit_share": how much of its limit it reached, null where none is known; of a workload its
///   exchange alone;
/// - of a workload "computing_ms" and "communicating_ms", from the medians of its phases; of a
///   replay those medians, "waiting_ms" and others, and of its time "recorded_ratio": how many
///   times the recorded run's it is.
///
/// "left_out", where there are any: the ways whose figures do not stand for them, which no rank
/// among the others is given to: "key", "way", "flaw" (unranked.hpp) and "why".
///
/// Empty for loads whose ways differ in their transport set alone, unless they replay a recorded
/// run, or `auto` and two other sets are among them: then all were tried.
Json ablation_of(const Result& result);

}  // namespace ucxbench
