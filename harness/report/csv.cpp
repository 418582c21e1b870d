#include <fmt/format.h>

#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/report/view.hpp"
#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

// Tidy, RFC 4180: one row per case, launch, pair of ranks and metric; a case without launches has
// one row with its state and reason. Units are in the metric's name; unknown is empty. Rows of
// several runs can be put one under another: run_id tells them apart. The columns from unit on came
// later; transport_used is that of the row's launch and pair, the interval that of the case's
// median over launches.
constexpr const char* columns =
    "run_id,key,benchmark,api,memory,transports,bytes,state,reason,launch,src,dst,metric,"
    "samples_seen,min,p50,p90,p99,p999,max,unit,transport_used,labels,quality,parameters,"
    "interval_low,interval_high,interval_kind";

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

std::string case_fields(const Result& result, const Case& of) {
  const auto bytes = bytes_of(of);
  const bool planned = of.state == CaseState::planned;
  std::vector<std::string> fields = {text_at(result.run, "/id", ""),
                                     of.key,
                                     of.benchmark,
                                     text_at(of.parameters, "/api", ""),
                                     text_at(of.parameters, "/memory", ""),
                                     text_at(of.parameters, "/transports", ""),
                                     bytes ? fmt::format("{}", *bytes) : "",
                                     to_string(planned ? CaseState::skipped : of.state),
                                     on_one_line(of.reason)};
  for (auto& field : fields) field = for_csv(field);
  return join(fields, ",");
}

std::string fact_fields(const RowFacts& facts) {
  const auto& interval = facts.interval;
  return fmt::format("{},{},{},{},{},{},{},{}", for_csv(facts.unit), for_csv(facts.transport),
                     for_csv(facts.labels), for_csv(facts.quality), for_csv(facts.parameters),
                     interval ? number(interval->low) : "", interval ? number(interval->high) : "",
                     interval ? name_of(interval_kinds, interval->kind) : "");
}

std::string render_csv(const Result& result, const RenderOptions&) {
  std::string out = std::string(columns) + "\r\n";
  const FactsOf facts_of(result);
  for (const auto& of : result.cases) {
    const auto fields = case_fields(result, of);
    if (of.launches.empty()) {
      out += fields + ",,,,,,,,,,,," + fact_fields(facts_of.row(of)) + "\r\n";
    }
    std::map<std::string, RowFacts> facts;
    for (const auto& [metric, summary] : of.metrics) facts[metric] = facts_of.row(of, metric);
    const auto media = media_of_pairs(of);
    for (const auto& record : of.launches) {
      const auto medium = media.find({record.src, record.dst});
      const auto carriers = carriers_in_words(
          record.path, medium == media.end() ? medium_in(of.path) : medium->second);
      for (const auto& [metric, samples] : record.samples) {
        const auto& q = samples.quantiles;
        auto row = facts.contains(metric) ? facts.at(metric) : facts_of.row(of, metric);
        row.transport = carriers;
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", fields, record.launch,
                           record.src, record.dst, for_csv(metric), samples.seen, number(q.min),
                           number(q.p50), number(q.p90), number(q.p99), number(q.p999),
                           number(q.max), fact_fields(row));
      }
    }
  }
  return out;
}

const RegisterFormat csv_format{
    {.name = "csv",
     .description = "tidy rows: one per case, launch, pair of ranks and metric",
     .render = render_csv}};

}  // namespace
}  // namespace ucxbench
