#include "harness/report/loggp_view.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "harness/core/units.hpp"
#include "harness/report/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Their names in the run file, and in tables.
constexpr std::array<std::pair<const char*, const char*>, 5> shown_parameters = {
    {{"L_ns", "L, ns"},
     {"o_s_ns", "o_s, ns"},
     {"o_r_ns", "o_r, ns"},
     {"g_ns", "g, ns"},
     {"G_ns_per_byte", "G, ns/B"}}};

std::string bytes_text(const Json& object, const char* name) {
  const auto bytes = number_at(object, name);
  return bytes && *bytes >= 0 && *bytes < 0x1p62 ? spaced_size(static_cast<std::uint64_t>(*bytes))
                                                 : "-";
}

std::string misfit_text(const Json& size, const char* name) {
  const auto off = number_at(size, name);
  return off ? fmt::format("{:+.1f} %", *off * 100) : "-";
}

std::string time_text(const Json& size, const char* name) {
  return significant(number_at(size, name), 3);
}

Grid parameters_grid(const Json& ranges) {
  Grid grid{.columns = {{"", "sizes"}}, .rows = {}};
  for (const auto& [name, title] : shown_parameters) grid.columns.push_back({title, "value"});
  for (const auto& range : ranges) {
    std::vector<std::string> row = {bytes_text(range, "from_bytes") + " to " +
                                    bytes_text(range, "to_bytes")};
    const auto known = range.value("ci95", Json::object());
    std::vector<std::string> intervals = {"95% CI"};
    for (const auto& [name, title] : shown_parameters) {
      const bool overlap = range.value(name, Json()).is_null() && range.contains("overlap_ns");
      row.push_back(overlap ? "overlap" : significant(number_at(range, name), 3));
      intervals.push_back(interval_text(known, name));
    }
    grid.rows.push_back(std::move(row));
    grid.rows.push_back(std::move(intervals));
  }
  return grid;
}

Grid agreement_grid(const Json& ranges) {
  Grid grid{.columns = {{"", "size"},
                        {"latency, us", "measured"},
                        {"latency, us", "model"},
                        {"latency, us", "error"},
                        {"in a train, us", "measured"},
                        {"in a train, us", "model"},
                        {"in a train, us", "error"}},
            .rows = {}};
  for (const auto& range : ranges) {
    for (const auto& size : range.value("sizes", Json::array())) {
      grid.rows.push_back({bytes_text(size, "bytes"), time_text(size, "latency_us"),
                           time_text(size, "model_latency_us"), misfit_text(size, "latency_off"),
                           time_text(size, "message_us"), time_text(size, "model_message_us"),
                           misfit_text(size, "message_off")});
    }
  }
  return grid;
}

}  // namespace

std::vector<Section> loggp_sections(const Result& result) {
  std::vector<Section> sections;
  for (const auto& entry : result.loggp) {
    const auto& ranges = entry.at("ranges");
    const auto title = text_at(entry, "/title");
    sections.push_back({"LogGP parameters, " + title, parameters_grid(ranges)});
    sections.push_back({"LogGP model and measurement, " + title, agreement_grid(ranges)});
  }
  return sections;
}

}  // namespace ucxbench
