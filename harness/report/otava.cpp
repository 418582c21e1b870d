// The history of a folder of runs for Apache Otava.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "harness/core/failure.hpp"
#include "harness/core/literal.hpp"
#include "harness/report/dashboard.hpp"
#include "harness/result/file.hpp"

namespace ucxbench {
namespace {

/// Lines of one segment that have values in the same runs: Otava reads no empty field.
struct OtavaTable {
  std::vector<std::size_t> places;  ///< in the stream
  std::vector<std::pair<std::string, const HistoryLine*>> columns{};
};

std::vector<OtavaTable> tables_of(const DashboardStream& of,
                                  const std::vector<std::size_t>& segment) {
  std::vector<OtavaTable> tables;
  std::set<std::string> names;
  for (const auto& line : of.lines) {
    std::vector<std::size_t> places;
    std::ranges::copy_if(segment, std::back_inserter(places),
                         [&](std::size_t place) { return line.values[place].has_value(); });
    if (places.empty()) continue;
    // Parameters that its key does not name may differ: then a line is another one.
    auto name = on_one_line(line.id());
    if (!names.insert(name).second) name += fmt::format(" ({})", line.parameters);
    auto table = std::ranges::find(tables, places, &OtavaTable::places);
    if (table == tables.end()) table = tables.insert(table, {.places = places});
    table->columns.emplace_back(name, &line);
  }
  return tables;
}

std::string csv_of(const OtavaTable& table, const RunStream& stream) {
  std::string text = "time,commit,run";
  for (const auto& [name, line] : table.columns) text += "," + for_csv(name);
  for (const auto place : table.places) {
    const auto& record = stream.runs[place]->record();
    text += fmt::format("\n{},{},{}", record.started,
                        for_csv(record.commit.empty() ? "?" : record.commit), for_csv(record.id));
    for (const auto& [name, line] : table.columns) {
      text += fmt::format(",{}", line->values[place]->median);
    }
  }
  return text + "\n";
}

/// A test of otava.yaml.
Json test_of(const OtavaTable& table, const std::string& file) {
  auto metrics = Json::object();
  for (const auto& [name, line] : table.columns) {
    metrics[name] = {{"column", name}, {"direction", line->label.better == "higher" ? 1 : -1}};
  }
  return {{"type", "csv"},
          {"file", file},
          {"time_column", "time"},
          {"attributes", {"commit", "run"}},
          {"metrics", std::move(metrics)}};
}

/// Of what may stand in a file's name anywhere.
std::string stem_of(const std::string& name) {
  std::string stem;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.';
    if (plain) {
      stem += c;
    } else if (!stem.ends_with('-')) {
      stem += '-';
    }
  }
  const auto first = stem.find_first_not_of("-."), last = stem.find_last_not_of("-.");
  return first == std::string::npos ? "" : stem.substr(first, last + 1 - first);
}

}  // namespace

void Dashboard::write_otava(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Failure(Exit::usage, fmt::format("cannot write '{}': {}; choose another folder with "
                                           "--otava",
                                           folder.string(), error.message()));
  }
  auto tests = Json::object(), names = Json::array();
  for (const auto& of : streams_) {
    const auto stem = stem_of(of.stream.name());
    std::size_t number = 0;
    for (const auto& segment : of.stream.segments) {
      for (const auto& table : tables_of(of, segment)) {
        std::string name;
        do {
          name = fmt::format("{}-{}", stem, ++number);
        } while (tests.contains(name));
        const auto file = name + ".csv";
        write_atomically(folder / file, csv_of(table, of.stream));
        tests[name] = test_of(table, file);
        names.push_back(name);
      }
    }
  }
  // JSON is YAML, and quotes what YAML would take for something else.
  const Json all = {{"tests", std::move(tests)}, {"test_groups", {{"all", std::move(names)}}}};
  write_atomically(folder / "otava.yaml",
                   "# cd here, then: otava analyze all --config-file otava.yaml --since DATE\n"
                   "# (without a date Otava leaves out what is older than a year)\n" +
                       json_text(all, 2) + "\n");
}

}  // namespace ucxbench
