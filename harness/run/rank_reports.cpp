#include "harness/run/rank_reports.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/clock.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

// The settings of rank 0 stand for all of its plan.
void name_plan(Json& facts, const LaunchPlan& plan) {
  if (facts.at("rank") == 0) {
    facts["plan"] = plan.name;
  } else {
    facts.erase("ucx_effective");
  }
}

// To microseconds.
Json seconds_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (begin_ns == 0 || end_ns < begin_ns) return nullptr;
  return std::round(static_cast<double>(end_ns - begin_ns) / 1e3) / 1e6;
}

}  // namespace

RankReports::RankReports(const Result& result, RunFile& file, HostNames hosts)
    : result_(result), file_(file), hosts_(std::move(hosts)) {}

const Case* RankReports::take(const LaunchPlan& plan, const std::string& key,
                              const Hub::Bytes& value) {
  if (key.starts_with("report/transfers/")) {
    file_.append_transfers(value);
    return nullptr;
  }
  auto report = from_bytes(value);
  if (report.contains("begun_ns")) {
    // Of another host, or where a wrapper has made a time namespace, it is another clock's.
    const auto begun_ns = report.at("begun_ns").get<std::uint64_t>();
    if (report.at("boot_id") == boot_id()) started_ns_ = std::max(started_ns_, begun_ns);
    report.erase("begun_ns");
  }
  if (key.starts_with("report/rank/")) {
    look_at_cpus(plan, report, report.value("boot_id", std::string()));
  }
  if (report.contains("boot_id")) {
    report["host"] = hosts_.told_apart(report.at("host").get<std::string>(),
                                       report.at("boot_id").get<std::string>());
    report.erase("boot_id");
  }
  if (key.starts_with("report/case/")) return take_case(std::move(report));
  if (key.starts_with("report/ucx/")) {
    ucx_[report.at("rank").get<int>()] = {report.at("version").get<std::string>(),
                                          report.at("host").get<std::string>()};
    return nullptr;
  }
  if (key.starts_with("report/rank/")) {
    name_plan(report, plan);
    met_ns_ = monotonic_ns();
    file_.add({{"rank", std::move(report)}});
  } else if (key.starts_with("report/protocols/")) {
    file_.add({{"protocols", std::move(report)}});
  } else if (key.starts_with("report/errors/")) {
    file_.add({{"errors", std::move(report)}});
  }
  return nullptr;
}

Json RankReports::ucx_versions() const {
  std::map<std::string, std::pair<std::vector<int>, std::set<std::string>>> by_version;
  for (const auto& [rank, ucx] : ucx_) {
    auto& [ranks, hosts] = by_version[ucx.first];
    ranks.push_back(rank);
    hosts.insert(ucx.second);
  }
  auto versions = Json::array();
  if (by_version.size() < 2) return versions;
  for (const auto& [version, of] : by_version) {
    versions.push_back({{"version", version}, {"ranks", of.first}, {"hosts", of.second}});
  }
  return versions;
}

void RankReports::begin_launch() {
  ucx_.clear();
  begin_ns_ = monotonic_ns();
  started_ns_ = met_ns_ = measured_ns_ = 0;
  cpus_ = {};
}

// As the ranks are, which a wrapper, a launcher or a cpuset may have put elsewhere than planned.
void RankReports::look_at_cpus(const LaunchPlan& plan, const Json& rank,
                               const std::string& machine) {
  int threads = 1;
  for (const auto index : plan.cases) {
    threads = std::max(threads, threads_in(result_.cases[index].parameters));
  }
  const auto cpus = rank.value("cpus", std::vector<int>());
  if (cpus.empty() || cpus_.add(machine, cpus, threads)) return;
  constexpr const char* oversubscribed = "oversubscribed";
  const auto labels = labels_of_machine(result_);
  if (std::ranges::find(labels, oversubscribed) != labels.end()) return;
  file_.add({{"machine_label", oversubscribed}});
}

Json RankReports::launch_time(const LaunchPlan& plan, int launch) const {
  return {{"launch_time",
           {{"launch", launch},
            {"plan", plan.name},
            {"ranks", plan.ranks},
            {"start_s", seconds_between(begin_ns_, started_ns_)},
            {"meet_s", seconds_between(started_ns_, met_ns_)},
            {"measure_s", seconds_between(met_ns_, measured_ns_)},
            {"end_s", seconds_between(measured_ns_, monotonic_ns())}}}};
}

// What carried samples, and whether data were right, is looked at after the last one of a case.
void mark_interrupted(Json& records) {
  for (auto& record : records) {
    if (!record.at("path").empty()) continue;
    record["path"] = {{"why", "the run was ended before this was looked at"},
                      {"labels", {to_string(Label::interrupted)}}};
  }
}

// When the run is ended, ranks report what they do not know to have been reported.
void RankReports::drop_known(const Case& of, int launch, Json& records) {
  if (std::exchange(ended_case_, &of) != &of) {
    known_pairs_.clear();
    for (const auto& record : of.launches) {
      if (record.launch == launch) known_pairs_.emplace(record.src, record.dst);
    }
  }
  auto fresh = Json::array();
  for (auto& record : records) {
    const bool is_new =
        known_pairs_.emplace(record.at("src").get<int>(), record.at("dst").get<int>()).second;
    if (is_new) fresh.push_back(std::move(record));
  }
  records = std::move(fresh);
}

const Case* RankReports::take_case(Json report) {
  const auto& reported = result_.cases.at(report.at("index").get<std::size_t>());
  const auto launch = report.at("records").at(0).at("launch").get<int>();
  const bool at_stop = report.erase("at_stop") > 0;
  if (at_stop) mark_interrupted(report.at("records"));
  if (at_stop || ended_case_ == &reported) {
    drop_known(reported, launch, report.at("records"));
    if (report.at("records").empty()) return nullptr;
  }
  // Others of its pairs may have reported before.
  const bool first = reported.launches.empty() || reported.launches.back().launch != launch;
  if (!report.at("error").get<std::string>().empty()) exit_ = Exit::wrong_data;
  file_.add({{"case", std::move(report)}});
  measured_ns_ = monotonic_ns();
  return first ? &reported : nullptr;
}

}  // namespace ucxbench
