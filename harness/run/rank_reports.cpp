#include "harness/run/rank_reports.hpp"

#include <algorithm>
#include <utility>

#include "harness/launch/supervisor.hpp"
#include "harness/run/case_report.hpp"
#include "harness/run/trouble.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {

RankReports::RankReports(Result& result, RunFile& file)
    : result_(result), file_(file), hosts_(host_name(), boot_id()) {}

const Case* RankReports::take(const LaunchPlan& plan, const std::string& key,
                              const Hub::Bytes& value) {
  if (key.starts_with("report/transfers/")) {
    take_transfers(value);
    return nullptr;
  }
  auto report = from_bytes(value);
  if (report.contains("boot_id")) {
    report["host"] = hosts_.told_apart(report.at("host").get<std::string>(),
                                       report.at("boot_id").get<std::string>());
    report.erase("boot_id");
  }
  const Case* measured = nullptr;
  if (key.starts_with("report/rank/")) {
    take_rank(plan, std::move(report));
  } else if (key.starts_with("report/protocols/")) {
    take_protocols(plan, report);
  } else if (key.starts_with("report/errors/")) {
    add_error_counters(result_.machine, report);
  } else {
    measured = take_case(plan, report);
  }
  file_.write(to_text(to_json(result_)));
  return measured;
}

void RankReports::take_transfers(const Hub::Bytes& sections) {
  file_.append_transfers(sections);
  result_.run["transfers"] = file_.transfers_name();
}

void RankReports::take_rank(const LaunchPlan& plan, Json facts) {
  const auto effective = facts.at("ucx_effective");
  facts.erase("ucx_effective");
  if (facts.contains("libraries")) {
    result_.ucx["libraries"].update(facts.at("libraries"));
    facts.erase("libraries");
  }
  const auto number = [](const Json& rank) { return rank.at("rank").get<int>(); };
  if (number(facts) == 0) result_.ucx["environment"]["effective"][plan.name] = effective;
  const auto known = std::ranges::find(result_.ranks, number(facts), number);
  if (known != result_.ranks.end()) {
    *known = std::move(facts);
  } else {
    result_.ranks.push_back(std::move(facts));
    std::sort(result_.ranks.begin(), result_.ranks.end(),
              [&](const Json& a, const Json& b) { return number(a) < number(b); });
  }
}

void RankReports::take_protocols(const LaunchPlan& plan, const Json& report) {
  auto& reported = result_.cases.at(report.at("index").get<std::size_t>());
  for (auto& record : reported.launches) {
    if (record.launch != report.at("launch") || record.src != report.at("src")) continue;
    for (const auto& row : report.at("protocols")) record.path["protocols"].push_back(row);
  }
  take_paths(reported, plan.set);
}

const Case* RankReports::take_case(const LaunchPlan& plan, const Json& report) {
  auto& reported = result_.cases.at(report.at("index").get<std::size_t>());
  const auto launch = report.at("records").at(0).at("launch").get<int>();
  // Others of its pairs may have reported before.
  const bool first = std::ranges::find(reported.launches, launch, &LaunchRecord::launch) ==
                     reported.launches.end();
  exit_ = worse(exit_, add_case_report(reported, plan.set, report));
  return first ? &reported : nullptr;
}

}  // namespace ucxbench
