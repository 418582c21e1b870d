#include <cmath>

#include "harness/analysis/rules/judged.hpp"
#include "harness/core/statistics.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

/// One metric of one case as a Google Benchmark family. Its tools know times only, lower being
/// better, so that a rate becomes the time of one message, or of all that a workload exchanges in a
/// run, with the rate beside it as a counter.
struct Family {
  std::string name;
  std::vector<double> times_us;           ///< per launch
  std::vector<double> rates_per_s;        ///< per launch; empty for a time
  std::string rate_name;                  ///< "bytes_per_second" or "items_per_second"
  std::vector<std::uint64_t> iterations;  ///< per launch, in the order of times_us
  std::string label;                      ///< the row's facts
};

std::optional<double> bytes_at_a_time(const Case& of, const std::string& metric) {
  if (metric == "exchange_GBps") return number_at(of.exchange, "bytes");
  const auto bytes = bytes_of(of);
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

std::vector<std::uint64_t> iterations_of(const Case& of, const std::string& metric) {
  const bool of_messages = metric.starts_with("bandwidth_") || metric.ends_with("_per_s");
  std::map<int, std::uint64_t> by_launch;
  for (const auto& record : of.launches) {
    by_launch[record.launch] += of_messages ? record.messages : record.iterations;
  }
  std::vector<std::uint64_t> iterations;
  for (const auto& [launch, count] : by_launch) iterations.push_back(count);
  return iterations;
}

std::optional<Family> family_of(const FactsOf& facts_of, const Case& of, const std::string& name,
                                const Metric& metric) {
  Family family{.name = of.key + "/" + name,
                .times_us = {},
                .rates_per_s = {},
                .rate_name = {},
                .iterations = iterations_of(of, name),
                .label = in_words(facts_of.row(of, name))};
  const auto bytes = bytes_at_a_time(of, name);
  const auto unit = shown_metric(of, name).unit;
  for (const double value : metric.launch_medians) {
    if (!std::isfinite(value) || value <= 0) return std::nullopt;
    if (unit == "us") {
      family.times_us.push_back(value);
    } else if (unit == "ms") {
      family.times_us.push_back(value * 1e3);
    } else if (unit == "GB/s" && bytes && *bytes > 0) {
      family.rate_name = "bytes_per_second";
      family.rates_per_s.push_back(value * 1e9);
      family.times_us.push_back(*bytes / (value * 1e3));
    } else if (unit == "1/s") {
      family.rate_name = "items_per_second";
      family.rates_per_s.push_back(value);
      family.times_us.push_back(1e6 / value);
    }
  }
  family.iterations.resize(family.times_us.size());
  return family.times_us.empty() ? std::nullopt : std::optional(family);
}

double standard_deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double variation(const std::vector<double>& values) {
  return standard_deviation(values) / mean(values);
}

class Rows {
 public:
  void add(const Family& family) {
    const auto launches = family.times_us.size();
    for (std::size_t i = 0; i < launches; ++i) {
      auto row = begun(family, family.name, "iteration");
      row["repetition_index"] = i;
      row["threads"] = 1;
      row["iterations"] = family.iterations[i];
      add_times(row, family.times_us[i]);
      if (!family.rates_per_s.empty()) row[family.rate_name] = family.rates_per_s[i];
      rows_.push_back(std::move(row));
    }
    add_aggregate(family, "mean", "time", mean);
    add_aggregate(family, "median", "time", [](const auto& values) { return median(values); });
    if (launches >= 2) {
      add_aggregate(family, "stddev", "time", standard_deviation);
      add_aggregate(family, "cv", "percentage", variation);
    }
    ++index_;
  }

  /// As Google Benchmark reports what ended with SkipWithError: without a time, so that its compare
  /// tool leaves it out.
  void add_failed(const Case& of, const std::string& why) {
    rows_.push_back({{"name", of.key},
                     {"family_index", index_++},
                     {"per_family_instance_index", 0},
                     {"run_name", of.key},
                     {"run_type", "iteration"},
                     {"repetitions", 1},
                     {"repetition_index", 0},
                     {"threads", 1},
                     {"iterations", 0},
                     {"error_occurred", true},
                     {"error_message", why}});
  }

  const Json& rows() const { return rows_; }

 private:
  Json begun(const Family& family, const std::string& name, const char* type) const {
    return {{"name", name},
            {"family_index", index_},
            {"per_family_instance_index", 0},
            {"run_name", family.name},
            {"run_type", type},
            {"repetitions", family.times_us.size()},
            {"label", family.label}};
  }

  /// A rank polls while it waits, so that its CPU time is the elapsed time; the tool wants both.
  static void add_times(Json& row, double time) {
    row["real_time"] = time;
    row["cpu_time"] = time;
    row["time_unit"] = "us";
  }

  template <typename Statistic>
  void add_aggregate(const Family& family, const std::string& name, const char* unit,
                     Statistic statistic) {
    auto row = begun(family, family.name + "_" + name, "aggregate");
    row["threads"] = 1;
    row["aggregate_name"] = name;
    row["aggregate_unit"] = unit;
    row["iterations"] = family.times_us.size();
    add_times(row, statistic(family.times_us));
    if (!family.rates_per_s.empty()) row[family.rate_name] = statistic(family.rates_per_s);
    rows_.push_back(std::move(row));
  }

  int index_ = 0;
  Json rows_ = Json::array();
};

Json context_of(const Result& result) {
  const auto hosts = result.machine.value("hosts", Json::array());
  const bool known = hosts.is_array() && !hosts.empty() && hosts.front().is_object();
  const auto host = known ? hosts.front() : Json::object();
  Json context = {{"date", text_at(result.run, "/started_utc")},
                  {"host_name", text_at(host, "/name")},
                  {"executable", "ucx-bench"},
                  {"library_build_type", "release"},
                  {"caches", host.value("caches", Json::array())},
                  {"ucx_bench_version", text_at(result.build, "/version")},
                  {"ucx_bench_commit", text_at(result.build, "/commit")},
                  {"ucx_version", ucx_in_words(result)}};
  if (host.contains("cores")) context["num_cpus"] = host.at("cores");
  for (const auto& [name, value] : facts_of_run(result)) context[std::string(name)] = value;
  context["not_measured"] = Json::object();
  for (const auto& of : result.cases) {
    if (of.metrics.empty())
      context["not_measured"][of.key] = to_string(of.state) + ": " + of.reason;
  }
  return context;
}

std::string render_gbench(const Result& result, const RenderOptions&) {
  Rows rows;
  const FactsOf facts_of(result);
  const Judged run(result);
  for (const auto& of : result.cases) {
    if (run.leaves_out(of)) {
      rows.add_failed(of, run.in_words(*run.flaw_of(of), of));
      continue;
    }
    for (const auto& [name, metric] : of.metrics) {
      if (const auto family = family_of(facts_of, of, name, metric)) rows.add(*family);
    }
  }
  return json_text({{"context", context_of(result)}, {"benchmarks", rows.rows()}}, 2) + "\n";
}

const RegisterFormat gbench_format{
    {.name = "gbench",
     .description = "Google Benchmark's JSON, one repetition per launch, for its compare.py",
     .render = render_gbench}};

}  // namespace
}  // namespace ucxbench
