#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// What a case shows, of a run file from before run files said so: taken from which parameters and
/// metrics it has. Nothing else looks at these for that.
Shows shows_of_older(const Case& of);

/// What a rate adds up, of a run file from before metrics said so.
SumOf sum_of_older(const std::string& metric);

/// Gives a "kind" (PhaseKind) to the elements of Case::phases, of a run file from before phases
/// said so: by their names, all that there were then. Times of 0 in what moves messages, which was
/// not timed, become null.
void add_kinds_of_older(Json& phases);

/// Summarizes the launches of a case anew, of a run file from before summaries had intervals, whose
/// slowest ranks are those of the first launch: Case::phases, and `intervals` of its exchange and
/// pairs. Where launches do not have every rank's median, one of two ranks follows from the slowest
/// one's and from the median of both.
void add_intervals_of_older(Case& of);

/// Takes calibrated limits out of cases whose messages caches may hold, of a run file from before
/// copies between two cores were measured: they are of one core's own caches.
void drop_limits_of_older(Result& result);

/// Likewise its "parts" to an entry of Result::ablation, by the names that its ways have.
void add_parts_of_older(Json& entry);

}  // namespace ucxbench
