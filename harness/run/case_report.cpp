#include "harness/run/case_report.hpp"

#include <algorithm>
#include <string>

#include "harness/result/cases.hpp"
#include "harness/result/paths.hpp"

namespace ucxbench {
namespace {

void weigh_path(Case& of, const TransportSet& set, const LaunchRecord& record) {
  const auto& path = record.path;
  if (of.path.empty() || says_worse(path, of.path)) {
    of.path = {{"asked", set.members()}, {"lanes", record.lanes}, {"verdict", "unknown"}};
    of.path.update(path);
  }
  for (const auto& label : path.value("labels", Json::array())) {
    add_label(of.labels, label.get<std::string>());
  }
}

}  // namespace

void take_paths(Case& of, const TransportSet& set) {
  of.path = Json::object();
  for (const auto& record : of.launches) weigh_path(of, set, record);
}

Exit add_case_report(Case& of, const TransportSet& set, const Json& report) {
  for (const auto& record : report.at("records")) of.launches.push_back(launch_from_json(record));
  take_paths(of, set);
  of.verified.checked += report.at("checked").get<std::uint64_t>();
  of.verified.errors += report.at("errors").get<std::uint64_t>();
  of.peak_buffer_bytes =
      std::max(of.peak_buffer_bytes, report.at("peak_buffer_bytes").get<std::uint64_t>());
  summarize(of);
  if (of.state == CaseState::failed) return Exit::done;
  if (const auto error = report.at("error").get<std::string>(); !error.empty()) {
    of.state = CaseState::failed;
    of.reason = error;
    return Exit::wrong_data;
  }
  const bool has_rates = !of.metrics.empty();
  of.state = has_rates ? CaseState::measured : CaseState::skipped;
  of.reason = has_rates ? ""
                        : "too short for the clock: no rate comes from less than 50 of its steps; "
                          "leave --iterations out, or raise it";
  return Exit::done;
}

}  // namespace ucxbench
