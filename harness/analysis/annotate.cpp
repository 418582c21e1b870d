#include "harness/analysis/annotate.hpp"

#include <algorithm>

#include "harness/analysis/comparison/ablation.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/analysis/limits/run_limits.hpp"
#include "harness/analysis/loggp.hpp"
#include "harness/analysis/media.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/analysis/sweep/sweep.hpp"

namespace ucxbench {

void annotate(Result& result) {
  add_media(result);
  add_limits(result);
  for (auto& of : result.cases) add_sweep(of, result);
  result.ablation = ablation_of(result);
  result.loggp = loggp_of(result);
  result.findings = findings_of(result);
}

void judge_anew(Result& result) {
  // An older file ranks what does not count.
  const auto counts_not = [run = Judged(result)](const Case& of) {
    return why_unranked(run, of).has_value();
  };
  if (std::ranges::any_of(result.cases, counts_not)) {
    result.ablation = ablation_of(result);
    result.loggp = loggp_of(result);
  }
  result.findings = findings_of(result);
}

}  // namespace ucxbench
