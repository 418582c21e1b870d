#include "bench/cli/plan/suite_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bench/cli/plan/plan_of_args.hpp"
#include "bench/cli/plan/suite_file.hpp"
#include "harness/analysis/comparison/comparison.hpp"
#include "harness/core/of_option.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

// Ten can give a verdict among 461 metrics of cases; with so many a loss of 5 % in all of them is
// found nearly always on a noisy host (docs/method/verdict-study.md).
constexpr int least_launches_of_a_suite = 24;

std::vector<Plan> plans_of(const Suite& suite, int launches, const Sides* sides) {
  std::vector<Plan> plans;
  for (const auto& suite_case : suite.cases) {
    plans.push_back(of_option(suite_case.origin,
                              [&] { return plan_of_args(suite_case.args, launches, sides); }));
    plans.back().name = suite_case.name;
    plans.back().origin = suite_case.origin;
  }
  return plans;
}

struct Counts {
  std::size_t cases = 0;
  std::size_t rows = 0;  ///< metrics of cases that `compare` may look at
};

// As far as that can be told before the machine is looked at.
Counts count(const std::vector<Plan>& plans) {
  Counts counts;
  for (const auto& plan : plans) {
    const auto times = plan.comms.size() * plan.sets.size() * plan.memory.size();
    for (const auto ranks : plan.ranks) {
      const auto place =
          case_place(TransportSet::parse("tcp"), {MemoryKind::host, MemoryKind::host}, ranks, "lo");
      for (const auto& of : plan.cases(place, place.ranks)) {
        counts.cases += times;
        counts.rows += times * static_cast<std::size_t>(std::ranges::count(of.shows.metrics, true,
                                                                           &ShownMetric::judged));
      }
    }
  }
  return counts;
}

}  // namespace

PlannedSuite plan_suite(const std::string& file, std::optional<int> launches, const Sides* sides) {
  const auto suite = read_suite(file);
  PlannedSuite planned;
  if (!launches) launches = suite.launches;
  planned.launches = launches.value_or(least_launches_of_a_suite);
  planned.max_time = suite.max_time;
  planned.plans = plans_of(suite, planned.launches, sides);
  const auto counts = count(planned.plans);
  planned.cases = counts.cases;
  planned.needed = static_cast<int>(launches_needed(counts.rows, usual_alpha));
  planned.needed_duets = static_cast<int>(launches_needed(counts.rows, usual_alpha, Method::duets));
  if (!launches && planned.launches < planned.needed) {
    planned.launches = planned.needed;
    planned.plans = plans_of(suite, planned.launches, sides);
  }
  return planned;
}

OneLaunch parse_one_launch(const std::string& text) {
  OneLaunch launch;
  const char* end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, launch.number);
  const bool first = error == std::errc() && slash != end && *slash == '/';
  const auto [rest, bad_count] = std::from_chars(first ? slash + 1 : end, end, launch.of);
  if (!first || bad_count != std::errc() || rest != end || launch.number < 1 ||
      launch.number > launch.of || launch.of > most_launches) {
    throw Failure(Exit::usage,
                  fmt::format("--launch '{}': expected one of so many, as 3/10", text));
  }
  return launch;
}

}  // namespace ucxbench
