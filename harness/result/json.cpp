#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/json_depth.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view schema_stem = "ucx-bench/run/";
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
  return {{"count", q.count},     {"min", number(q.min)}, {"p50", number(q.p50)},
          {"p90", number(q.p90)}, {"p99", number(q.p99)}, {"p999", number(q.p999)},
          {"max", number(q.max)}};
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

// What is large comes last, into the place that is kept for it: an object that grows copies all
// that it has (its keys are const, so that its vector cannot move them).
Json to_json(const Case& of) {
  const bool planned = of.state == CaseState::planned;
  Json launches = Json::array();
  for (const auto& record : of.launches) launches.push_back(launch_to_json(record));
  Json metrics = Json::object();
  for (const auto& [name, metric] : of.metrics) metrics[name] = to_json(metric);
  Json json = {{"key", of.key},
               {"benchmark", of.benchmark},
               {"parameters", of.parameters},
               {"shows", to_json(shows_all(of))},
               {"state", to_string(planned ? CaseState::skipped : of.state)},
               {"reason", planned ? not_reached : of.reason},
               {"metrics", std::move(metrics)},
               {"launches", nullptr},
               {"path", of.path},
               {"pairs", nullptr},
               {"phases", rounded(of.phases)},
               {"exchange", rounded(of.exchange)},
               {"limits", rounded(of.limits)},
               {"links", rounded(of.links)},
               {"verified", {{"checked", of.verified.checked}, {"errors", of.verified.errors}}},
               {"peak_buffer_bytes", of.peak_buffer_bytes},
               {"labels", of.labels}};
  json["launches"] = std::move(launches);
  json["pairs"] = rounded(of.pairs);
  return json;
}

/// Out of `json`: the pairs of a large run are copied nowhere.
Json take(Json& json, const char* name, Json::value_t type) {
  auto& value = json.at(name);
  if (value.type() != type) throw std::invalid_argument(std::string(name) + " is of another type");
  return std::move(value);
}

Json take_or(Json& json, const char* name, Json otherwise) {
  const auto found = json.find(name);
  return found == json.end() ? std::move(otherwise) : std::move(*found);
}

Case case_from(Json json) {
  Case of{.key = json.at("key").get<std::string>(),
          .benchmark = json.at("benchmark").get<std::string>(),
          .parameters = take(json, "parameters", Json::value_t::object),
          .state = case_state_named(json.at("state").get<std::string>()),
          .reason = json.at("reason").get<std::string>(),
          .path = take(json, "path", Json::value_t::object),
          .pairs = take(json, "pairs", Json::value_t::array),
          .phases = take_or(json, "phases", Json::array()),
          .exchange = take_or(json, "exchange", Json::object()),
          .limits = take_or(json, "limits", Json::array()),
          .links = take_or(json, "links", Json::array()),
          .verified = {.checked = json.at("verified").at("checked").get<std::uint64_t>(),
                       .errors = json.at("verified").at("errors").get<std::uint64_t>()},
          .peak_buffer_bytes = json.at("peak_buffer_bytes").get<std::uint64_t>(),
          .labels = json.at("labels").get<std::vector<std::string>>()};
  if (of.verified.errors > of.verified.checked) {
    throw std::invalid_argument("more messages with wrong data than were checked");
  }
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
  return of;
}

Result result_from(Json json) {
  Result result{.run = take(json, "run", Json::value_t::object),
                .build = take(json, "build", Json::value_t::object),
                .machine = take(json, "machine", Json::value_t::object),
                .ucx = take(json, "ucx", Json::value_t::object),
                .ranks = take(json, "ranks", Json::value_t::array),
                .findings = take(json, "findings", Json::value_t::array),
                .topology = take(json, "topology", Json::value_t::object)};
  for (auto& of : json.at("cases")) result.cases.push_back(case_from(std::move(of)));
  return result;
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Failure(Exit::usage, "'" + name + "' " + in_one_line(why));
}

/// Says what is wrong with a file that names another schema, or none.
[[noreturn]] void refuse_schema(const std::string& name, const Json& json) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  const bool named = json.is_object() && found != json.end() && found->is_string();
  const auto schema = named ? found->get<std::string>() : std::string();
  int major = 0;
  const auto current = std::string_view(run_schema).substr(schema_stem.size());
  int known = 0;
  std::from_chars(current.data(), current.data() + current.size(), known);
  if (schema.starts_with(schema_stem)) {
    std::from_chars(schema.data() + schema_stem.size(), schema.data() + schema.size(), major);
  }
  if (major > known) {
    refuse(name, "was made by a newer ucx-bench (" + schema + ", this one reads " + run_schema +
                     "); update ucx-bench");
  }
  refuse(name, std::string("is not a ucx-bench run (no \"schema\": \"") + run_schema +
                   "\"); give a file written by ucx-bench --json");
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

Json launch_to_json(const LaunchRecord& record) {
  Json samples = Json::object();
  Json quantiles = Json::object();
  for (const auto& [metric, of] : record.samples) {
    samples[metric] = numbers(of.values);
    quantiles[metric] = to_json(of.quantiles);
    quantiles[metric]["samples_seen"] = of.seen;
  }
  Json overheads = Json::object();
  for (const auto& [name, value] : record.overheads) overheads[name] = number(value);
  Json json = {{"launch", record.launch},
               {"src", record.src},
               {"dst", record.dst},
               {"iterations", record.iterations},
               {"messages", record.messages},
               {"warmup", record.warmup_iterations},
               {"cold",
                {{"context_us", number(record.cold.context_us)},
                 {"connect_us", number(record.cold.connect_us)},
                 {"first_message_us", number(record.cold.first_message_us)}}},
               {"quantiles", std::move(quantiles)},
               {"samples", std::move(samples)},
               {"overheads", std::move(overheads)},
               {"lanes", record.lanes},
               {"path", record.path},
               {"workload", rounded(record.workload)}};
  if (record.duet) json["duet"] = to_json(*record.duet);
  if (std::ranges::any_of(record.processors, [](const auto& at) { return at.has_value(); })) {
    json["processors"] = processors_to_json(record.processors);
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
  if (const auto seen = json.find("processors"); seen != json.end()) {
    record.processors = processors_from_json(*seen);
  }
  if (const auto duet = json.find("duet"); duet != json.end()) record.duet = duet_from(*duet);
  for (const auto& [name, value] : json.at("overheads").items()) {
    if (!value.is_null()) record.overheads[name] = value.get<double>();
  }
  return record;
}

Json to_json(const Result& result) {
  Json cases = Json::array();
  for (const auto& of : result.cases) cases.push_back(to_json(of));
  Json json = {{"schema", run_schema},       {"run", result.run},
               {"build", result.build},      {"machine", result.machine},
               {"ucx", result.ucx},          {"ranks", result.ranks},
               {"cases", nullptr},           {"findings", rounded(result.findings)},
               {"topology", result.topology}};
  json["cases"] = std::move(cases);
  return json;
}

Result as_its_file_has_it(Json written) { return result_from(std::move(written)); }

Result parse_result(const std::string& text, const std::string& name) {
  if (too_deep(text)) {
    refuse(name, "is not a ucx-bench run (JSON of more than " + std::to_string(most_json_levels) +
                     " levels); give a file written by ucx-bench --json");
  }
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    refuse(name, "is not whole JSON (it ends or breaks at byte " + std::to_string(error.byte) +
                     " of " + std::to_string(text.size()) +
                     "); give a file written by ucx-bench --json");
  } catch (const Json::out_of_range&) {
    refuse(name,
           "is not a ucx-bench run (a number in it is too large for any); give a file written "
           "by ucx-bench --json");
  }
  if (!json.is_object() || json.value("schema", Json()) != run_schema) refuse_schema(name, json);
  try {
    return result_from(std::move(json));
  } catch (const std::exception& error) {
    refuse(name, "is a damaged ucx-bench run (" + why_not_json(error) +
                     "); give it as ucx-bench --json wrote it");
  }
}

}  // namespace ucxbench
