#include "harness/analysis/annotate.hpp"

#include "harness/analysis/findings.hpp"
#include "harness/analysis/limits/run_limits.hpp"

namespace ucxbench {

void annotate(Result& result) {
  add_limits(result);
  result.findings = findings_of(result);
}

}  // namespace ucxbench
