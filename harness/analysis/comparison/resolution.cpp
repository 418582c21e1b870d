#include "harness/analysis/comparison/resolution.hpp"

#include <algorithm>
#include <vector>

#include "harness/analysis/comparison/placements.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double us_per_ns = 1e-3;
constexpr double equal_within =
    3e-5;  // relative: run files have six digits, clocks' rates are measured
constexpr double longest_step_us = 0.1;  // of clocks that are in use

double clock_step_ns(const Result& run) {
  double step = 0;
  for (const auto& rank : run.ranks) {
    step = std::max(step, number_at(rank, "clock_step_ns").value_or(0));
  }
  return step;
}

bool is_alone(const Case& of) {
  return std::ranges::any_of(of.launches,
                             [](const auto& record) { return record.src == record.dst; });
}

}  // namespace

double step_of(const Result& run, const Case& of, const std::string& metric) {
  if (metric != "latency_us") return 0;
  auto medians = usable_medians(of.metrics.at(metric));
  std::ranges::sort(medians);
  std::size_t repeated = 0;
  double before = 0;
  double least = 0;
  for (auto from = medians.begin(); from != medians.end();) {
    auto to = from + 1;
    while (to != medians.end() && *to - *(to - 1) <= equal_within * *from) ++to;
    if (to - from > 1) {
      repeated += static_cast<std::size_t>(to - from);
      if (before > 0 && (least == 0 || *from - before < least)) least = *from - before;
      before = *from;
    }
    from = to;
  }
  if (2 * repeated <= medians.size()) return 0;
  const auto clock_step_us = clock_step_ns(run) * us_per_ns;
  if (clock_step_us > 0) return is_alone(of) ? clock_step_us : clock_step_us / 2;
  return least <= longest_step_us ? least : 0;
}

}  // namespace ucxbench
