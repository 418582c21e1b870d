#include "bench/cli/plan/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/cli/plan/estimate.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/core/files.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/print.hpp"
#include "harness/core/secret.hpp"
#include "harness/launch/environment.hpp"
#include "harness/result/words.hpp"
#include "harness/run/duets.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

// The other side of ab.
std::string how_against(const LaunchPlan& plan, const Result& result, const Schedule& schedule) {
  if (schedule.duet.empty()) return "";
  const auto why = why_no_duet(plan, result);
  return why.empty() ? ", as duets" : ", in turns: " + why;
}

}  // namespace

Exit exit_of_plan(const std::vector<LaunchPlan>& plans) {
  const auto cannot = [](const LaunchPlan& plan) { return !plan.unavailable.empty(); };
  const bool refused = std::ranges::any_of(
      plans, [&](const LaunchPlan& plan) { return cannot(plan) && plan.strict; });
  return refused || std::ranges::all_of(plans, cannot) ? Exit::cannot_run : Exit::done;
}

Exit print_plan(const Result& result, const std::vector<LaunchPlan>& plans,
                const Schedule& schedule) {
  for (const auto& plan : plans) {
    print_to(stdout, "{}: {}\n", plan.name,
             plan.unavailable.empty()
                 ? fmt::format(
                       "{} x {}{}", counted(plan.cases.size(), "case"),
                       counted(static_cast<std::size_t>(schedule.launches), "launch", "launches"),
                       how_against(plan, result, schedule))
                 : "cannot run here: " + plan.unavailable);
    for (const auto& setting : plan.settings) {
      print_to(stdout, "  {}={}  # {}\n", setting.key, setting.value, setting.why);
    }
    for (std::size_t rank = 0; rank < plan.net_devices.size(); ++rank) {
      print_to(stdout, "  rank {}: UCX_NET_DEVICES={}\n", rank, plan.net_devices[rank]);
    }
    for (const auto index : plan.cases) print_to(stdout, "  {}\n", result.cases[index].key);
  }
  for (const auto& line : result.run.value("placement", Json::array())) {
    print_to(stdout, "{}\n", line.get<std::string>());
  }
  for (const auto& crowded : result.run.value("crowded", Json::array())) {
    print_to(stdout, "progress: {}\n", crowded_in_words(crowded));
  }
  for (const auto& finding : memlock(Judged(result))) {
    print_to(stdout, "! {}: {}\n", finding.subject, finding.evidence);
  }
  const auto exit = exit_of_plan(plans);
  if (exit == Exit::done) {
    const auto what =
        schedule.only_launch
            ? fmt::format("each of {} ", counted(static_cast<std::size_t>(schedule.launches),
                                                 "launch", "launches"))
            : std::string();
    print_to(stdout, "{}{}\n", what, time_in_words(result, plans, schedule));
  }
  return exit;
}

Json plan_json(const Result& result, const std::vector<LaunchPlan>& plans, const Schedule& schedule,
               const Probe& found) {
  auto variables = result.run.value("variables", Json::object());
  for (const auto& [name, value] : without_secrets(current_environment())) {
    if (name.starts_with("UCX_")) variables[name] = value;
  }
  Json all = Json::array();
  for (const auto& plan : plans) {
    Json settings = Json::object();
    for (const auto& setting : plan.settings) settings[setting.key] = setting.value;
    Json cases = Json::array();
    for (const auto index : plan.cases) cases.push_back(result.cases[index].key);
    all.push_back({{"name", plan.name},
                   {"unavailable", text_or_null(plan.unavailable)},
                   {"settings", std::move(settings)},
                   {"cases", std::move(cases)}});
  }
  const bool can_run = exit_of_plan(plans) == Exit::done;
  const auto time = estimate(result.cases, plans, schedule);
  return {{"schema", plan_schema},
          {"build", result.build},
          {"program", own_program().string()},
          {"ucx",
           {{"version", found.ucx.version},
            {"library", found.ucx.library},
            {"modules", found.ucx.modules},
            {"settings", found.ucx.settings}}},
          {"libraries", found.libraries},
          {"variables", std::move(variables)},
          {"cpus", allowed_cpus()},
          {"replaced", result.ucx.at("environment").at("replaced")},
          {"launches", schedule.launches},
          {"seconds", can_run ? Json(time.seconds) : Json()},
          {"at_least", time.at_least},
          {"plans", std::move(all)}};
}

void explain_settings(const std::vector<LaunchPlan>& plans) {
  for (const auto& plan : plans) {
    for (const auto& setting : plan.settings) {
      print_to(stderr, "{}: {}={} ({})\n", plan.set.name(), setting.key, setting.value,
               setting.why);
    }
  }
}

}  // namespace ucxbench
