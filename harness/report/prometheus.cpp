// What a check has measured, for the textfile collector of Prometheus' node exporter.

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>

#include "harness/report/check_view.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

using Sample = std::function<std::optional<double>(const Json& limit)>;

/// Prometheus wants base units: seconds, bytes.
constexpr double from_us = 1e-6;
constexpr double from_GBps = 1e9;

/// Those that do not change from one check to the next: a series goes on.
std::string labels_of(const Json& limit, const std::string& first_host) {
  std::string labels;
  const auto add = [&](const char* name, const std::string& value) {
    labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, for_label(value));
  };
  add("host", text_at(limit, "/host", first_host));
  add("expect", text_at(limit, "/place"));
  add("limit", text_at(limit, "/limit"));
  add("transports", text_at(limit, "/transports", ""));
  add("memory", text_at(limit, "/memory", ""));
  add("class", text_at(limit, "/class", ""));
  return labels;
}

std::string head_of(const std::string& name, const std::string& help) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
}

/// Nothing where no limit has such a sample.
std::string family(const std::string& name, const std::string& help, const Result& result,
                   const Sample& sample) {
  const auto first_host = text_at(result.machine, "/hosts/0/name", "?");
  std::string lines;
  for (const auto& limit : result.run.at("check").value("limits", Json::array())) {
    const auto value = sample(limit);
    if (!value) continue;
    lines += fmt::format("{}{{{}}} {:.6g}\n", name, labels_of(limit, first_host), *value);
  }
  return lines.empty() ? "" : head_of(name, help) + lines;
}

/// A field of the limits of that name, in base units.
Sample field_of(const char* limit_name, const char* field, double factor) {
  return [=](const Json& limit) -> std::optional<double> {
    const auto value = number_at(limit, field);
    if (!value || text_at(limit, "/limit") != limit_name) return std::nullopt;
    return *value * factor;
  };
}

std::string render_prometheus(const Result& result, const RenderOptions&) {
  const auto& check = check_of(result, "prometheus");
  std::string text = family(
      "ucxbench_check_limit_met", "Whether a limit of the site's file was met (1) or not (0).",
      result, [](const Json& limit) { return text_at(limit, "/verdict") == "met" ? 1.0 : 0.0; });
  text += family("ucxbench_check_bandwidth_bytes_per_second",
                 "Bandwidth of the slowest pair of ranks, alone.", result,
                 field_of("min_GBps", "measured", from_GBps));
  text += family("ucxbench_check_bandwidth_limit_bytes_per_second",
                 "Bandwidth that the site's file wants at least.", result,
                 field_of("min_GBps", "expected", from_GBps));
  text += family("ucxbench_check_latency_seconds",
                 "One-way latency of the slowest pair of ranks, small messages.", result,
                 field_of("max_us", "measured", from_us));
  text += family("ucxbench_check_latency_limit_seconds",
                 "One-way latency that the site's file allows at most.", result,
                 field_of("max_us", "expected", from_us));
  text += family("ucxbench_check_path_ratio",
                 "Share of the payload that went over the expected transports.", result,
                 field_of("path", "measured", 1));
  const auto summary = [&](const std::string& name, const std::string& help, double value) {
    text += fmt::format("{}{}{{expectations=\"{}\"}} {:.0f}\n", head_of(name, help), name,
                        for_label(text_at(check, "/file")), value);
  };
  summary("ucxbench_check_met", "Whether all limits of the site's file were met (1) or not (0).",
          text_at(check, "/verdict") == "met" ? 1 : 0);
  // With two nothing can tell which one is slow.
  if (result.machine.value("hosts", Json::array()).size() > 2) {
    summary(
        "ucxbench_check_slow",
        "Hosts, ranks and links that are slower than the others, whether a limit is met or not.",
        static_cast<double>(outliers_in_words(result).size()));
  }
  std::string labels;
  for (const auto& [name, value] : facts_of_run(result)) {
    labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, for_label(value));
  }
  text += head_of("ucxbench_check_info", "Labels and quality of the check's figures.") +
          fmt::format("ucxbench_check_info{{{}}} 1\n", labels);
  if (const auto ended = seconds_at(result.run, "/finished_utc")) {
    summary("ucxbench_check_timestamp_seconds", "When the check ended, in seconds since 1970.",
            *ended);
  }
  return text;
}

const RegisterFormat prometheus_format(
    {"prometheus", "metrics of a check for the node exporter's textfile collector",
     render_prometheus});

}  // namespace
}  // namespace ucxbench
