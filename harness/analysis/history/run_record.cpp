#include "harness/analysis/history/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>
#include <stdexcept>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/hash.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/parse.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_problems = 5;  // named of one run; the others are counted
constexpr std::int64_t day_in_seconds = 86400;

std::int64_t seconds_of(const std::string& utc) {
  std::tm time{};
  const char* const end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') throw std::invalid_argument("'" + utc + "' is no time");
  return ::timegm(&time);
}

std::string text_in(const Json& json, const char* name) { return json.at(name).get<std::string>(); }

// A file may say null, or nothing.
std::string text_if_any(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? "" : found->get<std::string>();
}

void check_clock(const Result& run, std::int64_t now) {
  const auto started = text_in(run.run, "started_utc");
  const auto finished = text_if_any(run.run, "finished_utc");
  if (!finished.empty() && seconds_of(finished) < seconds_of(started)) {
    throw Failure(Exit::usage, fmt::format("its clock went backwards: it began {} and ended {}",
                                           started, finished));
  }
  if (seconds_of(started) > now + day_in_seconds) {
    throw Failure(Exit::usage,
                  fmt::format("its clock is wrong: it began {}, which is in the future", started));
  }
}

Result head_of(const Result& run) {
  Result head{.run = run.run, .machine = run.machine, .ucx = run.ucx};
  auto hosts = Json::array();
  for (auto host : run.machine.value("hosts", Json::array())) {
    host.erase("gpus");
    host.erase("nics");
    if (hosts.empty()) hosts.push_back(std::move(host));
  }
  head.machine["hosts"] = std::move(hosts);
  if (head.ucx.contains("environment")) head.ucx["environment"].erase("effective");
  for (const auto& rank : run.ranks) {
    if (!head.ranks.empty() || rank.value("device", Json()).is_null()) continue;
    head.ranks.push_back({{"rank", rank.at("rank")}, {"device", rank.at("device")}});
  }
  return head;
}

bool is_measured(double value) { return std::isfinite(value) && value > 0; }

// The same where one run says null and another, of an older or newer version, says nothing.
std::string fingerprint_of(const Json& parameters) {
  std::map<std::string, std::string> said;
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_null()) said[name] = json_text(value);
  }
  std::string text;
  for (const auto& [name, value] : said) text += name + '\0' + value + '\0';
  return fmt::format("{:08x}", static_cast<std::uint32_t>(fnv1a(text)));
}

std::map<std::string, RecordedValue> recorded_values(const Case& of,
                                                     std::vector<std::string>& problems) {
  std::map<std::string, RecordedValue> values;
  // Times of ranks that take turns on one GPU are no figures to follow.
  if (is_time_sliced(of)) return values;
  for (const auto& [name, metric] : of.metrics) {
    const auto median = metric.quantiles.p50;
    if (!median || !shown_metric(of, name).judged) continue;
    if (!is_measured(*median)) {
      problems.push_back(fmt::format("{} {}: {} is no measured value", of.key, name, *median));
      continue;
    }
    auto& value = values[name];
    value.median = *median;
    const auto interval = interval_of(metric);
    if (!interval) continue;
    if (is_measured(interval->low) && is_measured(interval->high)) {
      value.interval = {interval->low, interval->high};
    } else {
      problems.push_back(fmt::format("{} {}: {} to {} is no measured interval", of.key, name,
                                     interval->low, interval->high));
    }
  }
  return values;
}

std::map<std::string, MetricLabel> labels_of_metrics(const Case& of) {
  std::map<std::string, MetricLabel> labels;
  for (const auto& metric : of.shows.metrics) {
    labels[metric.name] = {metric.title, metric.unit, metric.better};
  }
  for (const auto& [name, metric] : of.metrics) {
    const auto shown = shown_metric(of, name);
    labels.try_emplace(name, MetricLabel{shown.title, shown.unit, shown.better});
  }
  return labels;
}

bool tells_of_pairs(const Case& of) {
  return std::ranges::any_of(of.launches, [](const LaunchRecord& launch) {
    return launch.workload.value("pairs", Json::array()).size() > 1;
  });
}

void add_case(RunRecord& record, const Case& of, const std::string& impossible,
              std::vector<std::string>& problems) {
  auto labels = labels_of_metrics(of);
  auto& known = record.labels_of_metrics;
  auto at = std::ranges::find(known, labels);
  if (at == known.end()) at = known.insert(known.end(), std::move(labels));
  record.cases.emplace_back(
      of.key, CaseRecord{.state = of.state,
                         .reason = impossible.empty() ? of.reason : "impossible, " + impossible,
                         .parameters = fingerprint_of(of.parameters),
                         .is_canary = is_canary(of),
                         .has_pairs = tells_of_pairs(of),
                         .labels = static_cast<std::size_t>(at - known.begin()),
                         .values = impossible.empty() ? recorded_values(of, problems)
                                                      : std::map<std::string, RecordedValue>()});
}

Json to_json(const CaseRecord& of) {
  auto values = Json::object();
  for (const auto& [name, value] : of.values) {
    auto list = Json::array({value.median});
    if (value.interval) {
      for (const double end : *value.interval) list.push_back(end);
    }
    values[name] = std::move(list);
  }
  return {{"state", to_string(of.state)}, {"reason", of.reason},   {"parameters", of.parameters},
          {"canary", of.is_canary},       {"pairs", of.has_pairs}, {"labels", of.labels},
          {"values", std::move(values)}};
}

CaseRecord case_record_from(const Json& json, const RunRecord& record) {
  CaseRecord of{.state = case_state_named(text_in(json, "state")),
                .reason = text_in(json, "reason"),
                .parameters = text_in(json, "parameters"),
                .is_canary = json.at("canary").get<bool>(),
                .has_pairs = json.at("pairs").get<bool>(),
                .labels = json.at("labels").get<std::size_t>()};
  const auto& labels = record.labels_of_metrics.at(of.labels);
  for (const auto& [name, list] : json.at("values").items()) {
    const auto numbers = list.get<std::vector<double>>();
    if (!std::ranges::all_of(numbers, is_measured) || !labels.contains(name)) {
      throw std::invalid_argument(name + " has no measured value");
    }
    auto& value = of.values[name];
    value.median = numbers.at(0);
    if (numbers.size() > 1) value.interval = {numbers[1], numbers.at(2)};
  }
  return of;
}

}  // namespace

std::int64_t RunRecord::seconds() const { return seconds_of(started); }

const CaseRecord* RunRecord::find(const std::string& key) const {
  if (places.empty()) {
    for (std::size_t at = 0; at < cases.size(); ++at) places.emplace(cases[at].first, at);
  }
  const auto found = places.find(key);
  return found == places.end() ? nullptr : &cases[found->second].second;
}

const MetricLabel* RunRecord::label_of(const std::string& key, const std::string& metric) const {
  const auto* of = find(key);
  if (of == nullptr) return nullptr;
  const auto& labels_of_case = labels_of_metrics.at(of->labels);
  const auto found = labels_of_case.find(metric);
  return found == labels_of_case.end() ? nullptr : &found->second;
}

RunRecord record_of(const Result& run, std::int64_t now) {
  check_clock(run, now);
  const auto labels = labels_of(run);
  const std::set<std::string> sorted(labels.begin(), labels.end());
  RunRecord record{.id = text_in(run.run, "id"),
                   .started = text_in(run.run, "started_utc"),
                   .state = text_in(run.run, "state"),
                   .reason = text_if_any(run.run, "reason"),
                   .machine = text_in(run.machine, "id"),
                   .commit = text_if_any(run.build, "commit"),
                   .dirty = run.build.value("dirty", false),
                   .command = run.run.at("command").get<std::vector<std::string>>(),
                   .labels = {sorted.begin(), sorted.end()},
                   .other = text_at(run.run, "/ab/other", ""),
                   .head = head_of(run)};
  auto& problems = record.problems;
  // What no machine gives is no figure.
  const auto impossible = impossible_cases(Judged(run));
  for (const auto& of : run.cases) {
    const auto found = impossible.find(of.key);
    add_case(record, of, found == impossible.end() ? "" : found->second, problems);
  }
  if (problems.size() > most_problems) {
    const auto more = problems.size() - most_problems;
    problems.resize(most_problems);
    problems.push_back(fmt::format("and {} more values", more));
  }
  return record;
}

Json to_json(const RunRecord& record) {
  auto cases = Json::object();
  for (const auto& [key, of] : record.cases) cases[key] = to_json(of);
  auto labels = Json::array();
  for (const auto& known : record.labels_of_metrics) {
    auto& all = labels.emplace_back(Json::object());
    for (const auto& [name, of] : known) all[name] = {of.title, of.unit, of.better};
  }
  return {{"id", record.id},
          {"started", record.started},
          {"state", record.state},
          {"reason", record.reason},
          {"machine", record.machine},
          {"commit", record.commit},
          {"dirty", record.dirty},
          {"command", record.command},
          {"labels", record.labels},
          {"other", record.other},
          {"head", without_launches(record.head)},
          {"metrics", std::move(labels)},
          {"cases", std::move(cases)},
          {"problems", record.problems}};
}

RunRecord run_record_from(Json json) {
  RunRecord record{.id = text_in(json, "id"),
                   .started = text_in(json, "started"),
                   .state = text_in(json, "state"),
                   .reason = text_in(json, "reason"),
                   .machine = text_in(json, "machine"),
                   .commit = text_in(json, "commit"),
                   .dirty = json.at("dirty").get<bool>(),
                   .command = json.at("command").get<std::vector<std::string>>(),
                   .labels = json.at("labels").get<std::vector<std::string>>(),
                   .other = text_in(json, "other"),
                   .head = result_from(std::move(json.at("head")), {}),
                   .problems = json.at("problems").get<std::vector<std::string>>()};
  record.seconds();
  for (const auto& known : json.at("metrics")) {
    auto& labels = record.labels_of_metrics.emplace_back();
    for (const auto& [name, of] : known.items()) {
      labels[name] = {of.at(0).get<std::string>(), of.at(1).get<std::string>(),
                      of.at(2).get<std::string>()};
      if (labels[name].better != "lower" && labels[name].better != "higher") {
        throw std::invalid_argument(name + " does not say what is better");
      }
    }
  }
  for (const auto& [key, of] : json.at("cases").items()) {
    record.cases.emplace_back(key, case_record_from(of, record));
  }
  return record;
}

}  // namespace ucxbench
