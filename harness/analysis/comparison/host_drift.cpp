#include "harness/analysis/comparison/host_drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/analysis/comparison/judge.hpp"
#include "harness/analysis/comparison/shapes.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {
namespace {

// Messages up to this size stay in a processor's first or second cache, even 32 of them at once:
// they do not become slower because memory did.
constexpr double most_cached_bytes = 4096;

// Of the time that the work takes, so that above 1 is always slower.
Factors factors_of(const SeriesChange& series) {
  const auto of =
      series.ratio.interval.value_or(std::array{series.ratio.estimate, series.ratio.estimate});
  if (series.better == "lower") return {of[0], of[1]};
  return {1 / of[1], 1 / of[0]};
}

Factors both(const Factors& a, const Factors& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

bool stays_in_caches(const Case& of) {
  const auto bytes = of.parameters.find("bytes");
  return bytes != of.parameters.end() && bytes->is_number() &&
         bytes->get<double>() <= most_cached_bytes;
}

}  // namespace

bool explains(const Factors& host, const SeriesChange& series) {
  const auto seen = factors_of(series);
  const Factors own = {seen.least / host.most, seen.most / host.least};
  if (series.change == Change::regressed) return own.least <= 1 + series.floor;
  if (series.change == Change::improved) return own.most >= 1 / (1 + series.floor);
  const auto bound = std::max(least_that_matters, series.floor);
  return own.least <= 1 / (1 + bound) || own.most >= 1 + bound;
}

HostDrift drift_of(const std::vector<SeriesChange>& canaries) {
  HostDrift drift;
  for (const auto& row : canaries) {
    if (row.change != Change::regressed && row.change != Change::improved) continue;
    auto& of = row.key == "canary/memcpy" ? drift.memory : drift.processor;
    of = both(of, factors_of(row));
  }
  return drift;
}

void doubt_what_the_host_explains(std::vector<SeriesChange>& series, const Result& base,
                                  const Comparison& comparison) {
  const auto drift = drift_of(comparison.canaries);
  for (auto& row : series) {
    const bool changed = row.change == Change::regressed || row.change == Change::improved;
    if (row.method == Method::duets || (!changed && row.change != Change::unchanged)) continue;
    const auto* of = find_case(base, row.key);
    const bool cached = of != nullptr && stays_in_caches(*of);
    if (!explains(cached ? drift.processor : both(drift.processor, drift.memory), row)) {
      if (changed) add_remark(row, "the host reference drifted less than this");
      continue;
    }
    row.change = Change::inconclusive;
    row.doubt = Doubt::none;
    row.reason = Reason::host;
    row.why = fmt::format("host reference drifted: {}; rerun interleaved (ucx-bench ab)",
                          comparison.host_changed);
  }
}

}  // namespace ucxbench
