#include "harness/result/events.hpp"

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/result/append.hpp"
#include "harness/result/parse.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/trouble.hpp"

namespace ucxbench {
namespace {

Case& case_at(Result& result, const Json& index) {
  return result.cases.at(index.get<std::size_t>());
}

/// The records of a launch, which is the last one of its case.
auto records_of_last(Case& of, int launch) {
  return of.launches | std::views::reverse |
         std::views::take_while([launch](const auto& record) { return record.launch == launch; });
}

void take_rank(Result& result, Json facts) {
  const auto number = [](const Json& rank) { return rank.at("rank").get<int>(); };
  if (facts.contains("libraries")) {
    result.ucx["libraries"].update(facts.at("libraries"));
    facts.erase("libraries");
  }
  if (facts.contains("ucx_effective")) {
    result.ucx["environment"]["effective"][facts.at("plan").get<std::string>()] =
        facts.at("ucx_effective");
    facts.erase("ucx_effective");
    facts.erase("plan");
  }
  const auto at = std::ranges::lower_bound(result.ranks, number(facts), {}, number);
  if (at != result.ranks.end() && number(*at) == number(facts)) {
    *at = std::move(facts);
  } else {
    result.ranks.insert(at, std::move(facts));
  }
}

void take_case(Result& result, const Json& report) {
  auto& of = case_at(result, report.at("index"));
  bool has_rates = of.state == CaseState::measured;
  for (const auto& record : report.at("records")) {
    of.launches.push_back(launch_from_json(record));
    has_rates |= !of.launches.back().samples.empty();
  }
  of.verified.checked += report.at("checked").get<std::uint64_t>();
  of.verified.errors += report.at("errors").get<std::uint64_t>();
  if (of.verified.errors > of.verified.checked) {
    throw std::invalid_argument("more messages with wrong data than were checked");
  }
  of.peak_buffer_bytes =
      std::max(of.peak_buffer_bytes, report.at("peak_buffer_bytes").get<std::uint64_t>());
  if (of.state == CaseState::failed) return;
  if (const auto error = report.at("error").get<std::string>(); !error.empty()) {
    of.state = CaseState::failed;
    of.skip_cause.reset();
    of.reason = error;
    return;
  }
  of.state = has_rates ? CaseState::measured : CaseState::skipped;
  of.skip_cause = has_rates ? std::nullopt : std::optional(SkipCause::too_short);
  of.reason = has_rates ? ""
                        : "too short for the clock: no rate comes from less than 50 of its steps; "
                          "leave --iterations out, or raise it";
}

void take_protocols(Result& result, const Json& report) {
  const auto src = report.at("src").get<int>();
  auto& of = case_at(result, report.at("index"));
  for (auto& record : records_of_last(of, report.at("launch").get<int>())) {
    if (record.src != src) continue;
    for (const auto& row : report.at("protocols")) record.path["protocols"].push_back(row);
  }
}

void take_canary(Result& result, const Json& report) {
  const auto key = report.at("key").get<std::string>();
  auto known = std::ranges::find(result.cases, key, &Case::key);
  if (known == result.cases.end()) {
    Case added;
    added.key = key;
    added.benchmark = canary_benchmark;
    added.parameters = report.at("parameters");
    added.shows = shows_of({.kind = ViewKind::canary, .axes = {message_size()}}, canary_benchmark,
                           added.parameters);
    added.state = CaseState::measured;
    known = result.cases.insert(known, std::move(added));
  }
  known->launches.push_back(launch_from_json(report.at("record")));
}

// A journal of before there were several hosts has the first one's alone.
void take_memory_copy(Result& result, const Json& report) {
  auto& hosts = result.machine["hosts"];
  if (!report.contains("host")) {
    hosts[0]["memory_copy"] = report;
    return;
  }
  for (auto& host : hosts) {
    if (host.value("name", Json()) == report.at("host")) host["memory_copy"] = report.at("copies");
  }
}

void take_processors(Result& result, const Json& report) {
  const auto launch = report.at("launch").get<int>();
  const auto elsewhere = report.value("elsewhere", Json::object());
  for (const auto& index : report.at("cases")) {
    for (auto& record : records_of_last(case_at(result, index), launch)) {
      record.processors = processors_from_json(report.at("seen"));
      for (const auto& [host, seen] : elsewhere.items()) {
        record.processors_elsewhere[host] = processors_from_json(seen);
      }
    }
  }
}

void take_state(Result& result, const Json& report) {
  const auto state = case_state_named(report.at("state").get<std::string>());
  for (const auto& index : report.at("cases")) {
    auto& of = case_at(result, index);
    of.state = state;
    of.skip_cause = skip_cause_in(report);
    of.reason = report.at("reason").get<std::string>();
  }
}

void take_in_turns(Result& result, const Json& report) {
  for (const auto& index : report.at("cases")) {
    case_at(result, index).in_turns = report.at("why").get<std::string>();
  }
}

}  // namespace

void apply_event(Result& result, const Json& event) {
  if (!event.is_object() || event.size() != 1) throw std::invalid_argument("an event has one name");
  const auto name = event.begin().key();
  const auto& value = event.front();
  if (name == "rank") {
    take_rank(result, value);
  } else if (name == "case") {
    take_case(result, value);
  } else if (name == "protocols") {
    take_protocols(result, value);
  } else if (name == "errors") {
    add_error_counters(result.machine, value);
  } else if (name == "warning") {
    add_ucx_warning(result.ucx, value.at("rank").get<int>(), value.at("line").get<std::string>());
  } else if (name == "ucx_versions") {
    result.ucx["versions"] = value;
  } else if (name == "canary") {
    take_canary(result, value);
  } else if (name == "memory_copy") {
    take_memory_copy(result, value);
  } else if (name == "processors") {
    take_processors(result, value);
  } else if (name == "machine_label") {
    result.machine["labels"].push_back(value.get<std::string>());
  } else if (name == "launch_time") {
    result.run["launch_times"].push_back(value);
  } else if (name == "lost_launch") {
    result.run["lost_launches"].push_back(value);
  } else if (name == "clock") {
    result.run["clocks"].push_back(value);
  } else if (name == "state") {
    take_state(result, value);
  } else if (name == "in_turns") {
    take_in_turns(result, value);
  } else if (name == "run") {
    result.run.update(value);
  } else if (name == "part") {
    append_launches(result, result_from(value, {}));
  } else {
    throw std::invalid_argument("no event is named '" + name + "'");
  }
}

void sum_up(Result& result) {
  for (auto& of : result.cases) {
    if (of.launches.empty()) continue;
    summarize(of);
    sum_paths(of);
  }
}

}  // namespace ucxbench
