#include "bench/cli/plan/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Seen on a virtual machine of two cores: processes that start UCX and connect, the canary, and of
// a case what is not measuring: warming up, proof of the path, verification.
constexpr double start_up_s = 0.35;
constexpr double canary_s = 0.5;
constexpr double beside_measuring_s = 0.05;
constexpr double warm_up_part = 0.1;

/// Of one launch of a replay, which waits as long as was recorded; 0 for other cases.
double recorded_seconds_of(const Case& planned) {
  const auto recorded_ms = number_at(planned.parameters, "recorded_ms").value_or(0);
  if (planned.parameters.value("as_fast_as_possible", false)) return 0;
  const auto runs = number_at(planned.parameters, "warmup_runs").value_or(0) +
                    number_at(planned.parameters, "runs").value_or(1);
  return recorded_ms * 1e-3 * runs;
}

/// Of one launch; empty where it depends on the data or on a number of iterations.
std::optional<double> seconds_of(const Case& planned) {
  if (!planned.parameters.contains("time_per_launch_ns")) return std::nullopt;
  if (number_at(planned.parameters, "iterations")) return std::nullopt;
  const auto time = number_at(planned.parameters, "time_per_launch_ns");
  if (!time) return std::nullopt;
  return *time * 1e-9 * (1 + warm_up_part) + beside_measuring_s;
}

}  // namespace

Estimate estimate(const std::vector<Case>& cases, const std::vector<LaunchPlan>& plans,
                  const Schedule& schedule) {
  Estimate whole;
  double launch_s = schedule.canary ? canary_s : 0;
  for (const auto& plan : plans) {
    if (!plan.unavailable.empty()) continue;
    launch_s += start_up_s;
    for (const auto index : plan.cases) {
      const auto case_s = seconds_of(cases.at(index));
      launch_s += case_s.value_or(recorded_seconds_of(cases.at(index)));
      whole.at_least |= !case_s;
    }
  }
  whole.seconds = launch_s * (schedule.only_launch ? 1 : schedule.launches);
  if (!schedule.max_time) return whole;
  const double most = std::chrono::duration<double>(*schedule.max_time).count();
  whole.capped = whole.seconds > most || whole.at_least;
  whole.seconds = std::min(whole.seconds, most);
  return whole;
}

std::string in_words(const Estimate& estimate) {
  const auto time = rough_time(estimate.seconds);
  if (estimate.at_least) return "at least " + time;
  return fmt::format("about {}{}", time, estimate.capped ? ", all of max_time" : "");
}

std::string time_in_words(const Result& result, const std::vector<LaunchPlan>& plans,
                          const Schedule& schedule) {
  if (std::ranges::none_of(plans, &std::string::empty, &LaunchPlan::unavailable)) return "";
  const bool busy = !busy_host(Judged(result)).empty();
  return fmt::format("takes {}{}", in_words(estimate(result.cases, plans, schedule)),
                     busy ? ", longer while other programs use the CPUs" : "");
}

std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace ucxbench
