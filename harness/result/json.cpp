#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/result/flaws.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/parse.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

constexpr const char* not_reached = "not reached: the run ended before it";

/// Six digits are finer than any clock and noise here, and halve the file.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::scientific, 5);
  double rounded = value;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

/// The same for free-form JSON.
Json rounded(Json json) {
  if (json.is_number_float()) return number(json.get<double>());
  for (auto& value : json) {
    if (value.is_structured() || value.is_number_float()) value = rounded(std::move(value));
  }
  return json;
}

std::optional<double> known_number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

std::vector<double> numbers_from(const Json& list) {
  std::vector<double> values;
  values.reserve(list.size());
  for (const auto& value : list) {
    values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : value.get<double>());
  }
  return values;
}

Json to_json(const Quantiles& q) {
  auto json = Json::object();
  json["count"] = q.count;
  json["min"] = number(q.min);
  json["p50"] = number(q.p50);
  json["p90"] = number(q.p90);
  json["p99"] = number(q.p99);
  json["p999"] = number(q.p999);
  json["max"] = number(q.max);
  return json;
}

Quantiles quantiles_from(const Json& json) {
  return {.count = json.at("count").get<std::uint64_t>(),
          .min = known_number(json, "min"),
          .p50 = known_number(json, "p50"),
          .p90 = known_number(json, "p90"),
          .p99 = known_number(json, "p99"),
          .p999 = known_number(json, "p999"),
          .max = known_number(json, "max")};
}

Json to_json(const std::optional<Processors>& processors) {
  if (!processors) return nullptr;
  return {{"apart_ns", number(processors->apart_ns)}, {"work_ns", number(processors->work_ns)}};
}

std::optional<Processors> one_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const auto apart = known_number(json, "apart_ns");
  const auto work = known_number(json, "work_ns");
  return apart && work ? std::optional(Processors{*apart, *work}) : std::nullopt;
}

Json to_json(const Duet& duet) {
  auto blocks = Json::object();
  for (const auto& [metric, of] : duet.blocks) {
    blocks[metric] = {
        {"quads", of.quads}, {"iterations", of.iterations}, {"values", numbers(of.values)}};
  }
  return {{"id", duet.id}, {"first", duet.first}, {"blocks", std::move(blocks)}};
}

Duet duet_from(const Json& json) {
  Duet duet{.id = json.at("id").get<std::string>(), .first = json.at("first").get<std::string>()};
  for (const auto& [metric, of] : json.at("blocks").items()) {
    duet.blocks[metric] = {.quads = of.at("quads").get<std::string>(),
                           .iterations = of.at("iterations").get<std::uint64_t>(),
                           .values = numbers_from(of.at("values"))};
  }
  return duet;
}

Json to_json(const Metric& metric) {
  Json json = to_json(metric.quantiles);
  json["ci95"] = metric.ci95 ? numbers({metric.ci95->begin(), metric.ci95->end()}) : Json(nullptr);
  json["interval"] = rounded(to_json(interval_of(metric)));
  json["samples_seen"] = metric.samples_seen;
  json["better"] = metric.better;
  json["launch_medians"] = numbers(metric.launch_medians);
  return json;
}

Metric metric_from(const Json& json) {
  Metric metric{.quantiles = quantiles_from(json),
                .samples_seen = json.at("samples_seen").get<std::uint64_t>(),
                .better = json.at("better").get<std::string>(),
                .launch_medians = numbers_from(json.at("launch_medians"))};
  if (const auto& ci = json.at("ci95"); !ci.is_null()) {
    metric.ci95 = {ci.at(0).get<double>(), ci.at(1).get<double>()};
  }
  return metric;
}

// With every metric that the case has: whoever reads it need not know names.
Shows shows_all(const Case& of) {
  auto shows = of.shows;
  for (const auto& [name, metric] : of.metrics) {
    if (std::ranges::find(shows.metrics, name, &ShownMetric::name) == shows.metrics.end()) {
      shows.metrics.push_back(metric_named(name));
    }
  }
  return shows;
}

Json without_launches(const Case& of) {
  const bool planned = of.state == CaseState::planned;
  Json metrics = Json::object();
  for (const auto& [name, metric] : of.metrics) metrics[name] = to_json(metric);
  Json json = {{"key", of.key},
               {"benchmark", of.benchmark},
               {"parameters", of.parameters},
               {"shows", to_json(shows_all(of))},
               {"state", to_string(planned ? CaseState::skipped : of.state)},
               {"reason", planned ? not_reached : of.reason},
               {"metrics", std::move(metrics)},
               {"launches", Json::array()},
               {"path", of.path},
               {"pairs", nullptr},
               {"phases", rounded(of.phases)},
               {"exchange", rounded(of.exchange)},
               {"limits", rounded(of.limits)},
               {"links", rounded(of.links)},
               {"verified", {{"checked", of.verified.checked}, {"errors", of.verified.errors}}},
               {"peak_buffer_bytes", of.peak_buffer_bytes},
               {"labels", of.labels}};
  if (const auto cause = planned ? SkipCause::run_ended : of.skip_cause) {
    json["skip_cause"] = name_of(skip_causes, *cause);
  }
  if (!of.in_turns.empty()) json["in_turns"] = of.in_turns;
  if (!of.hosts.empty()) json["hosts"] = of.hosts;
  if (!of.sweep.empty()) json["sweep"] = rounded(of.sweep);
  json["pairs"] = rounded(of.pairs);  // an initializer would be copied
  return json;
}

/// Out of `json`: the pairs of a large run are copied nowhere.
Json take(Json& json, const char* name, Json::value_t type) {
  auto& value = json.at(name);
  if (value.type() != type) throw std::invalid_argument(std::string(name) + " is of another type");
  return std::move(value);
}

Json take_or(Json& json, const char* name, Json otherwise) {
  return json.contains(name) ? take(json, name, otherwise.type()) : std::move(otherwise);
}

Case case_from(Json json, std::vector<LaunchRecord> launches) {
  Case of{.key = json.at("key").get<std::string>(),
          .benchmark = json.at("benchmark").get<std::string>(),
          .parameters = take(json, "parameters", Json::value_t::object),
          .state = case_state_named(json.at("state").get<std::string>()),
          .skip_cause = skip_cause_in(json),
          .reason = json.at("reason").get<std::string>(),
          .in_turns = json.value("in_turns", ""),
          .hosts = json.value("hosts", std::vector<std::string>()),
          .launches = std::move(launches),
          .path = take(json, "path", Json::value_t::object),
          .pairs = take(json, "pairs", Json::value_t::array),
          .phases = take_or(json, "phases", Json::array()),
          .exchange = take_or(json, "exchange", Json::object()),
          .limits = take_or(json, "limits", Json::array()),
          .links = take_or(json, "links", Json::array()),
          .sweep = take_or(json, "sweep", Json::object()),
          .verified = {.checked = json.at("verified").at("checked").get<std::uint64_t>(),
                       .errors = json.at("verified").at("errors").get<std::uint64_t>()},
          .peak_buffer_bytes = json.at("peak_buffer_bytes").get<std::uint64_t>(),
          .labels = json.at("labels").get<std::vector<std::string>>()};
  if (of.verified.errors > of.verified.checked) {
    throw std::invalid_argument("more messages with wrong data than were checked");
  }
  add_kinds_of_older(of.phases);
  for (const auto& record : json.at("launches")) of.launches.push_back(launch_from_json(record));
  for (const auto& pair : of.pairs) {
    if (pair.at("src").get<int>() < 0 || pair.at("dst").get<int>() < 0) {
      throw std::invalid_argument("a pair has no ranks");
    }
  }
  for (const auto& [name, metric] : json.at("metrics").items()) {
    of.metrics[name] = metric_from(metric);
  }
  const auto shows = json.find("shows");
  of.shows = shows == json.end() ? shows_of_older(of) : shows_from(*shows);
  const auto& metrics = json.at("metrics");
  if (!metrics.empty() && !metrics.begin()->contains("interval")) add_intervals_of_older(of);
  return of;
}

/// Two cases of one key would lend each other their figures.
void check_case_keys(const Result& result) {
  std::set<std::string_view> keys;
  for (const auto& of : result.cases) {
    if (keys.insert(of.key).second) continue;
    throw std::invalid_argument("the case '" + of.key + "' is there twice");
  }
}

}  // namespace

std::string to_string(CaseState state) {
  switch (state) {
    case CaseState::planned:
      return "planned";
    case CaseState::measured:
      return "measured";
    case CaseState::skipped:
      return "skipped";
    case CaseState::failed:
      return "failed";
  }
  return "failed";
}

std::optional<SkipCause> skip_cause_in(const Json& json) {
  const auto found = json.find("skip_cause");
  if (found == json.end()) return std::nullopt;
  const auto name = found->get<std::string>();
  const auto cause = value_of(skip_causes, name);
  if (!cause) throw std::invalid_argument("skip_cause '" + name + "' is not known");
  return cause;
}

CaseState case_state_named(const std::string& name) {
  for (const auto state : {CaseState::measured, CaseState::skipped, CaseState::failed}) {
    if (name == to_string(state)) return state;
  }
  throw std::invalid_argument("state '" + name + "' is not measured, skipped or failed");
}

Json processors_to_json(const SeenProcessors& seen) {
  return Json::array({to_json(seen[0]), to_json(seen[1])});
}

SeenProcessors processors_from_json(const Json& json) {
  return {one_from(json.at(0)), one_from(json.at(1))};
}

// Member by member: of hundreds of ranks there are hundreds of thousands, and a list of all members
// is first made into JSON of its own.
Json launch_to_json(const LaunchRecord& record) {
  auto json = Json::object();
  json["launch"] = record.launch;
  json["src"] = record.src;
  json["dst"] = record.dst;
  json["iterations"] = record.iterations;
  json["messages"] = record.messages;
  json["warmup"] = record.warmup_iterations;
  auto& cold = json["cold"] = Json::object();
  cold["context_us"] = number(record.cold.context_us);
  cold["connect_us"] = number(record.cold.connect_us);
  cold["first_message_us"] = number(record.cold.first_message_us);
  auto quantiles = Json::object();
  auto samples = Json::object();
  for (const auto& [metric, of] : record.samples) {
    samples[metric] = numbers(of.values);
    auto& summary = quantiles[metric] = to_json(of.quantiles);
    summary["samples_seen"] = of.seen;
  }
  json["quantiles"] = std::move(quantiles);
  json["samples"] = std::move(samples);
  auto& overheads = json["overheads"] = Json::object();
  for (const auto& [name, value] : record.overheads) overheads[name] = number(value);
  json["lanes"] = record.lanes;
  json["path"] = record.path;
  json["workload"] = rounded(record.workload);
  if (record.duet) json["duet"] = to_json(*record.duet);
  if (std::ranges::any_of(record.processors, [](const auto& at) { return at.has_value(); })) {
    json["processors"] = processors_to_json(record.processors);
  }
  for (const auto& [host, seen] : record.processors_elsewhere) {
    json["processors_elsewhere"][host] = processors_to_json(seen);
  }
  return json;
}

LaunchRecord launch_from_json(const Json& json) {
  LaunchRecord record{.launch = json.at("launch").get<int>(),
                      .src = json.at("src").get<int>(),
                      .dst = json.at("dst").get<int>(),
                      .iterations = json.at("iterations").get<std::uint64_t>(),
                      .messages = json.at("messages").get<std::uint64_t>(),
                      .warmup_iterations = json.at("warmup").get<std::uint64_t>(),
                      .lanes = json.at("lanes").get<std::vector<std::string>>()};
  if (record.src < 0 || record.dst < 0) throw std::invalid_argument("a launch has no ranks");
  const auto& cold = json.at("cold");
  record.cold = {.context_us = known_number(cold, "context_us"),
                 .connect_us = known_number(cold, "connect_us"),
                 .first_message_us = known_number(cold, "first_message_us")};
  for (const auto& [metric, values] : json.at("samples").items()) {
    const auto& quantiles = json.at("quantiles").at(metric);
    record.samples[metric] = {.quantiles = quantiles_from(quantiles),
                              .seen = quantiles.at("samples_seen").get<std::uint64_t>(),
                              .values = numbers_from(values)};
  }
  record.path = json.value("path", Json::object());
  record.workload = json.value("workload", Json::object());
  if (const auto phases = record.workload.find("phases"); phases != record.workload.end()) {
    add_kinds_of_older(*phases);
  }
  if (const auto seen = json.find("processors"); seen != json.end()) {
    record.processors = processors_from_json(*seen);
  }
  if (const auto others = json.find("processors_elsewhere"); others != json.end()) {
    for (const auto& [host, seen] : others->items()) {
      record.processors_elsewhere[host] = processors_from_json(seen);
    }
  }
  if (const auto duet = json.find("duet"); duet != json.end()) record.duet = duet_from(*duet);
  for (const auto& [name, value] : json.at("overheads").items()) {
    if (!value.is_null()) record.overheads[name] = value.get<double>();
  }
  return record;
}

Json without_launches(const Result& result) {
  Json cases = Json::array();
  for (const auto& of : result.cases) cases.push_back(without_launches(of));
  Json json = {{"schema", run_schema},       {"run", result.run},
               {"build", result.build},      {"machine", result.machine},
               {"ucx", result.ucx},          {"ranks", result.ranks},
               {"cases", nullptr},           {"findings", rounded(result.findings)},
               {"topology", result.topology}};
  if (!result.ablation.empty()) json["ablation"] = rounded(result.ablation);
  if (!result.loggp.empty()) json["loggp_fits"] = rounded(result.loggp);
  json["cases"] = std::move(cases);
  return json;
}

Json to_json(const Result& result) {
  auto json = without_launches(result);
  for (std::size_t at = 0; at < result.cases.size(); ++at) {
    auto& launches = json["cases"][at]["launches"];
    for (const auto& record : result.cases[at].launches) launches.push_back(launch_to_json(record));
  }
  return json;
}

Result result_from(Json json, Launches launches) {
  Result result{.run = take(json, "run", Json::value_t::object),
                .build = take(json, "build", Json::value_t::object),
                .machine = take(json, "machine", Json::value_t::object),
                .ucx = take(json, "ucx", Json::value_t::object),
                .ranks = take(json, "ranks", Json::value_t::array),
                .findings = take(json, "findings", Json::value_t::array),
                .ablation = json.contains("ablation") ? take(json, "ablation", Json::value_t::array)
                                                      : Json::array(),
                .loggp = json.contains("loggp_fits")
                             ? take(json, "loggp_fits", Json::value_t::array)
                             : Json::array(),
                .topology = take(json, "topology", Json::value_t::object)};
  if (!result.machine.value("hosts", Json::array()).is_array()) {
    throw std::invalid_argument("hosts are of another type");
  }
  for (auto& entry : result.ablation) {
    if (!entry.at("ways").is_array()) throw std::invalid_argument("ways are of another type");
    add_parts_of_older(entry);
  }
  for (auto& entry : result.loggp) {
    const auto& ranges = entry.at("ranges");
    if (!ranges.is_array() || !std::ranges::all_of(ranges, &Json::is_object)) {
      throw std::invalid_argument("ranges are of another type");
    }
  }
  launches.resize(std::max(launches.size(), json.at("cases").size()));
  auto of_case = launches.begin();
  for (auto& of : json.at("cases")) {
    result.cases.push_back(case_from(std::move(of), std::move(*of_case++)));
  }
  check_case_keys(result);
  add_labels_of_older(result);
  fail_cases_of_older(result);
  drop_limits_of_older(result);
  return result;
}

Result as_its_file_has_it(Result run) {
  Launches launches;
  for (auto& of : run.cases) launches.push_back(std::move(of.launches));
  return result_from(without_launches(run), std::move(launches));
}

}  // namespace ucxbench
