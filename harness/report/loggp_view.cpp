#include "harness/report/loggp_view.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "harness/core/units.hpp"
#include "harness/report/interval_text.hpp"
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
    const auto older = range.value("ci95", Json::object());
    std::vector<std::optional<Interval>> intervals;
    for (const auto& [name, title] : shown_parameters) {
      const bool overlap = range.value(name, Json()).is_null() && range.contains("overlap_ns");
      row.push_back(overlap ? "overlap" : significant(number_at(range, name), 3));
      const auto own = interval_at(range, name);
      intervals.push_back(own ? own : interval_from(older.value(name, Json())));
    }
    grid.rows.push_back(std::move(row));
    grid.rows.push_back({interval_head(intervals)});
    for (const auto& of : intervals) grid.rows.back().push_back(interval_cell(of, 3));
  }
  return grid;
}

Grid agreement_grid(const Json& entry) {
  const auto& ranges = entry.at("ranges");
  Grid grid{.columns = {{"", "size"}}, .rows = {}};
  std::vector<const Json*> sizes;
  for (const auto& range : ranges) {
    const auto own = range.find("sizes");
    for (std::size_t at = 0; own != range.end() && at < own->size(); ++at) {
      sizes.push_back(&own->at(at));
    }
  }
  for (const auto* size : sizes) grid.rows.push_back({bytes_text(*size, "bytes")});
  const auto add = [&](const std::string& group, const char* measured, const char* model,
                       const char* off) {
    std::vector<std::optional<Interval>> intervals;
    grid.columns.push_back({group, "measured"});
    for (std::size_t row = 0; row < sizes.size(); ++row) {
      grid.rows[row].push_back(time_text(*sizes[row], measured));
      intervals.push_back(interval_at(*sizes[row], measured));
    }
    add_intervals(grid, group, intervals, 3);
    grid.columns.push_back({group, "model"});
    grid.columns.push_back({group, "error"});
    for (std::size_t row = 0; row < sizes.size(); ++row) {
      grid.rows[row].push_back(time_text(*sizes[row], model));
      grid.rows[row].push_back(misfit_text(*sizes[row], off));
    }
  };
  add("latency, us", "latency_us", "model_latency_us", "latency_off");
  add("in a train, us", "message_us", "model_message_us", "message_off");
  for (const auto& size : entry.value("left_out", Json::array())) {
    std::vector<std::string> row(grid.columns.size(), no_cell);
    row.front() =
        fmt::format("{}, left out: {}", bytes_text(size, "bytes"), text_at(size, "/flaw"));
    grid.rows.push_back(std::move(row));
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
    sections.push_back({"LogGP model and measurement, " + title, agreement_grid(entry)});
  }
  return sections;
}

}  // namespace ucxbench
