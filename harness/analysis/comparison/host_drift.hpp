#pragma once

#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// By which factors the time of a piece of work may have changed because the host did: from
/// `least`, at most 1, to `most`, at least 1.
struct Factors {
  double least = 1, most = 1;
};

/// Whether that could have made a row's verdict: a change that is not beyond it by more than the
/// row's floor, or `unchanged`, and no verdict at all, where it may hide a change that matters.
bool explains(const Factors& host, const SeriesChange& series);

/// How far the host references of two runs drifted, each with its whole interval. Only those that
/// regressed or improved count.
struct HostDrift {
  Factors processor;  ///< of canary/syscall: any work may have changed as much
  Factors memory;     ///< of canary/memcpy: work whose data do not stay in a processor's caches
};

HostDrift drift_of(const std::vector<SeriesChange>& canaries);

/// Takes a verdict away where the host's drift explains it. A verdict that the drift cannot explain
/// stays, and says so. Missing and added rows, those without a verdict, and duets, whose sides met
/// the same host, are left alone. `cases` are those of the base run.
void doubt_what_the_host_explains(std::vector<SeriesChange>& series, const Result& base,
                                  const Comparison& comparison);

}  // namespace ucxbench
