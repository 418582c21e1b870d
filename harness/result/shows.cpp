#include "harness/result/shows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/core/hash.hpp"
#include "harness/core/units.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr Names<ViewKind, 5> kinds = {{{ViewKind::curve, "curve"},
                                       {ViewKind::matrix, "matrix"},
                                       {ViewKind::first_messages, "first messages"},
                                       {ViewKind::workload, "workload"},
                                       {ViewKind::canary, "canary"}}};
constexpr Names<Shown, 3> places = {
    {{Shown::drawn, "drawn"}, {Shown::listed, "listed"}, {Shown::kept, "kept"}}};
constexpr Names<SumOf, 5> sums = {{{SumOf::one_way, "one way"},
                                   {SumOf::both_ways, "both ways"},
                                   {SumOf::pairs, "pairs"},
                                   {SumOf::ranks, "ranks"},
                                   {SumOf::none, "none"}}};

template <typename Value, std::size_t Size>
Value named(const Names<Value, Size>& names, const Json& json) {
  const auto name = json.get<std::string>();
  if (const auto value = value_of(names, name)) return *value;
  throw std::invalid_argument("'" + name + "' is nothing that a case shows");
}

std::string unit_in_file(ShownAxis::Unit unit) {
  return unit == ShownAxis::Unit::bytes ? "B" : unit == ShownAxis::Unit::pairs ? "pairs" : "";
}

std::optional<std::uint64_t> count_in(const Json& value) {
  if (!value.is_number_integer() || value < 0) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::string text_of(const ShownAxis& axis, const Json& value) {
  const auto text = text_at(value, "");
  const auto count = count_in(value);
  switch (axis.unit) {
    case ShownAxis::Unit::bytes:
      return count && *count > 0 ? spaced_size(*count) : text;
    case ShownAxis::Unit::count: {
      const auto noun =
          axis.label.substr(0, axis.label.size() - (axis.label.ends_with('s') ? 1 : 0));
      return count ? counted(*count, noun) : text;
    }
    case ShownAxis::Unit::pairs: {
      const auto at_once = value_of(concurrent_names, text);
      return at_once ? text + (*at_once == Concurrent::one ? " pair" : " pairs") : text;
    }
    case ShownAxis::Unit::plain:
      break;
  }
  return value.is_string() ? text : axis.label + " " + text;
}

// As all were before there was another way.
bool by_ucx(const Json& parameters) { return text_at(parameters, "/comm", "ucx") == "ucx"; }

std::string title_of(const View& view, const std::string& benchmark, const Json& parameters) {
  std::string title = benchmark;
  if (const auto api = text_at(parameters, "/api", ""); !api.empty()) title += " " + api;
  if (parameters.contains("memory")) {
    title += ", " + join(texts_of(parameters.at("memory")), " to ");
  }
  title += ", over " + text_at(parameters, "/transports");
  if (!by_ucx(parameters)) title += " by " + text_at(parameters, "/comm");
  return view.told == nullptr ? title : title + view.told(parameters);
}

bool is_scaled(const View& view, const Json& parameters) {
  return view.amount && !text_at(parameters, "/scaling", "").empty() &&
         parameters.contains(view.amount->parameter);
}

ShownScaling scaling_of(const Amount& amount, const Json& parameters, std::uint64_t ranks) {
  const auto& value = parameters.at(amount.parameter);
  const auto said = text_at(parameters, "/scaling", "");
  ShownScaling scaling{.kind = !said.empty()     ? said
                               : amount.per_rank ? "weak"
                                                 : "strong",
                       .amount = amount.parameter,
                       .asked = text_at(value, "")};
  if (!value.is_number()) return scaling;
  const auto number = value.get<double>();
  const auto n = static_cast<double>(ranks);
  if (scaling.kind == "strong" && amount.per_rank) {
    // Three digits: a few are left out where they do not divide by the ranks.
    scaling.asked = amount.power == 1
                        ? fmt::format("{:g}M", std::stod(fmt::format("{:.2e}", number * n)) * 1e-6)
                        : fmt::format("{:.0f}", number * std::pow(n, 1.0 / amount.power));
  } else if (scaling.kind == "weak" && !amount.per_rank) {
    scaling.asked = fmt::format("{:.0f}", number / std::pow(n, 1.0 / amount.power));
  }
  return scaling;
}

Json to_json(const AxisValue& axis) {
  Json json = {
      {"name", axis.name}, {"label", axis.label}, {"value", axis.value}, {"text", axis.text}};
  if (!axis.unit.empty()) json["unit"] = axis.unit;
  if (axis.follows) json["follows"] = "ranks";
  return json;
}

bool is_rate(const ShownMetric& metric) { return metric.unit == "GB/s" || metric.unit == "1/s"; }

Json to_json(const ShownMetric& metric) {
  Json json = {{"name", metric.name},
               {"title", metric.title},
               {"about", metric.about},
               {"unit", metric.unit},
               {"better", metric.better},
               {"judged", metric.judged},
               {"shown", name_of(places, metric.shown)}};
  if (is_rate(metric)) json["sum_of"] = name_of(sums, metric.sum_of);
  return json;
}

Json to_json(const Usage& use) {
  Json json = {{"parameter", use.parameter}, {"usual", use.usual}, {"next", use.next}};
  if (use.rates_alone) json["rates_alone"] = true;
  return json;
}

std::string text_in(const Json& json, const char* name) { return json.at(name).get<std::string>(); }

AxisValue axis_from(const Json& json) {
  return {.name = text_in(json, "name"),
          .label = text_in(json, "label"),
          .value = json.at("value"),
          .text = text_in(json, "text"),
          .unit = json.value("unit", ""),
          .follows = json.contains("follows")};
}

ShownMetric shown_metric_from(const Json& json) {
  ShownMetric metric{.name = text_in(json, "name"),
                     .title = text_in(json, "title"),
                     .about = text_in(json, "about"),
                     .unit = text_in(json, "unit"),
                     .better = text_in(json, "better"),
                     .judged = json.at("judged").get<bool>(),
                     .shown = named(places, json.at("shown")),
                     .sum_of = json.contains("sum_of") ? named(sums, json.at("sum_of"))
                                                       : sum_of_older(text_in(json, "name"))};
  if (metric.better != "lower" && metric.better != "higher") {
    throw std::invalid_argument("better is '" + metric.better + "'");
  }
  return metric;
}

Usage usage_from(const Json& json) {
  return {.parameter = text_in(json, "parameter"),
          .usual = json.at("usual"),
          .next = text_in(json, "next"),
          .rates_alone = json.value("rates_alone", false)};
}

}  // namespace

ShownMetric metric_named(const std::string& name, const MetricNotes& notes) {
  const bool per_s = name.ends_with("_per_s");
  const auto end = per_s ? name.size() - 6 : std::min(name.rfind('_'), name.size());
  const auto suffix = end < name.size() ? name.substr(end + 1) : "";
  const bool more_is_better = per_s || suffix == "GBps" || suffix == "ratio";
  ShownMetric metric{.name = name,
                     .title = notes.title.empty() ? name.substr(0, end) : notes.title,
                     .about = notes.about,
                     .unit = per_s              ? "1/s"
                             : suffix == "GBps" ? "GB/s"
                                                : suffix,
                     .better = more_is_better ? "higher" : "lower",
                     .judged = notes.judged,
                     .shown = notes.shown,
                     .sum_of = notes.sum_of};
  std::ranges::replace(metric.title, '_', ' ');
  if (metric.about.empty()) metric.about = metric.title;
  return metric;
}

std::vector<ShownMetric> workload_metrics() {
  // The throughput is 1/x of the time.
  return {metric_named("wall_ms", {.title = "time", .shown = Shown::drawn}),
          metric_named("throughput_GBps", {.judged = false, .sum_of = SumOf::none}),
          metric_named("exchange_GBps", {.sum_of = SumOf::ranks})};
}

ShownAxis message_size() {
  return {.parameter = "bytes", .label = "size", .unit = ShownAxis::Unit::bytes};
}

ShownAxis number_of_ranks() {
  return {.parameter = "ranks", .label = "ranks", .unit = ShownAxis::Unit::count};
}

Shows shows_of(const View& view, const std::string& benchmark, const Json& parameters) {
  Shows shows{.kind = view.kind,
              .title = title_of(view, benchmark, parameters),
              .at_once = view.at_once,
              .metrics = view.metrics};
  if (view.adapt != nullptr) view.adapt(parameters, shows.metrics);
  if (const auto ranks = parameters.find("ranks"); ranks != parameters.end()) {
    shows.ranks = count_in(*ranks).value_or(shows.ranks);
  }
  auto axes = view.axes;
  const bool own = view.amount && std::ranges::find(axes, view.amount->parameter,
                                                    &ShownAxis::parameter) != axes.end();
  const bool scaled = !own && is_scaled(view, parameters);
  if (scaled)
    axes.push_back({view.amount->parameter, view.amount->parameter, ShownAxis::Unit::plain});
  auto common = parameters;
  if (common.contains("comm") && by_ucx(common)) common.erase("comm");
  for (const auto& axis : axes) {
    const auto found = parameters.find(axis.parameter);
    if (found == parameters.end()) continue;
    common.erase(axis.parameter);
    shows.axes.push_back({.name = axis.parameter,
                          .label = axis.label,
                          .value = *found,
                          .text = text_of(axis, *found),
                          .unit = unit_in_file(axis.unit),
                          .follows = scaled && axis.parameter == view.amount->parameter});
    if (axis.unit == ShownAxis::Unit::pairs) {
      shows.at_once = value_of(concurrent_names, text_at(*found, "")).value_or(view.at_once);
    }
  }
  shows.block = fmt::format("{:016x}", fnv1a(Json{benchmark, common}.dump()));
  if (view.amount && parameters.contains(view.amount->parameter)) {
    shows.scaling = scaling_of(*view.amount, parameters, shows.ranks);
  }
  for (const auto& use : view.usages) {
    const auto found = parameters.find(use.parameter);
    if (found != parameters.end() && *found != use.usual) shows.unusual.push_back(use);
  }
  return shows;
}

Json to_json(const Shows& shows) {
  Json json = {{"kind", name_of(kinds, shows.kind)},
               {"title", shows.title},
               {"block", shows.block},
               {"at_once", name_of(concurrent_names, shows.at_once)},
               {"ranks", shows.ranks},
               {"axes", Json::array()},
               {"metrics", Json::array()}};
  for (const auto& axis : shows.axes) json["axes"].push_back(to_json(axis));
  for (const auto& metric : shows.metrics) json["metrics"].push_back(to_json(metric));
  if (const auto& scaling = shows.scaling) {
    json["scaling"] = {
        {"kind", scaling->kind}, {"amount", scaling->amount}, {"asked", scaling->asked}};
  }
  for (const auto& use : shows.unusual) json["unusual"].push_back(to_json(use));
  return json;
}

Shows shows_from(const Json& json) {
  Shows shows{.kind = named(kinds, json.at("kind")),
              .title = text_in(json, "title"),
              .block = text_in(json, "block"),
              .at_once = named(concurrent_names, json.at("at_once")),
              .ranks = json.at("ranks").get<std::uint64_t>()};
  for (const auto& axis : json.at("axes")) shows.axes.push_back(axis_from(axis));
  for (const auto& metric : json.at("metrics")) shows.metrics.push_back(shown_metric_from(metric));
  if (json.contains("scaling")) {
    const auto& scaling = json.at("scaling");
    shows.scaling = ShownScaling{.kind = text_in(scaling, "kind"),
                                 .amount = text_in(scaling, "amount"),
                                 .asked = text_in(scaling, "asked")};
  }
  for (const auto& use : json.value("unusual", Json::array())) {
    shows.unusual.push_back(usage_from(use));
  }
  return shows;
}

}  // namespace ucxbench
