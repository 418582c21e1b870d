// What the script of a dashboard's page draws from: every line's values, and samples of the last
// runs.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/core/read_json.hpp"
#include "harness/core/statistics.hpp"
#include "harness/report/dashboard_page.hpp"
#include "harness/report/dashboard_rows.hpp"
#include "harness/report/drawn.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_bytes_of_data = 9'000'000;  // of a page of 10 MB
constexpr std::size_t most_sample_numbers = 350'000;   // on a page, some 2 MB
constexpr std::size_t most_of_a_launch = 64;
constexpr std::size_t usual_launches = 12;
constexpr int digits_of_values = 5, digits_of_samples = 4;

double rounded_to(double value, int digits) {
  const auto text = fmt::format("{:.{}e}", value, digits - 1);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

/// How far an end of the interval is from the median, in 1/100 %.
std::int64_t away(double value, double end) {
  return std::llround(std::abs(end / value - 1) * 10'000);
}

/// Ends of intervals only from a run on, where the page would be too large.
Json line_json(const HistoryLine& line, std::size_t stream, std::size_t intervals_from) {
  auto values = Json::array(), lows = Json::array(), highs = Json::array();
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    const auto& value = line.values[i];
    values.push_back(value ? Json(rounded_to(value->median, digits_of_values)) : Json());
    if (!value || i < intervals_from) continue;
    const auto& ends = value->interval;
    lows.push_back(ends ? Json(away(value->median, (*ends)[0])) : Json());
    highs.push_back(ends ? Json(away(value->median, (*ends)[1])) : Json());
  }
  auto notes = Json::object();
  for (const auto& [run, note] : line.notes) notes[std::to_string(run)] = note;
  auto changes = Json::array();
  for (const auto& change : line.changes) {
    changes.push_back({change.index, rounded_to(change.before, digits_of_values),
                       rounded_to(change.after, digits_of_values), change.provisional});
  }
  return {{"s", stream},
          {"u", unit_text(line.label.unit)},
          {"b", line.label.better},
          {"v", std::move(values)},
          {"f", intervals_from},
          {"l", std::move(lows)},
          {"h", std::move(highs)},
          {"n", std::move(notes)},
          {"c", std::move(changes)}};
}

Json stream_data(const DashboardStream& of, const std::filesystem::path& page) {
  const auto& runs = of.stream.runs;
  auto told = Json::array(), marks = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = *runs[i];
    const auto& record = run.record();
    told.push_back({record.started, record.id, short_commit(run) + (record.dirty ? "+" : ""),
                    record.state, record.reason, link_to(run.path, page)});
    if (i == 0 || run.place.differs.empty()) continue;
    marks.push_back({i, join(run.place.differs, "; "),
                     runs[i - 1]->place.segment != run.place.segment, run.environment});
  }
  const auto base = of.stream.place_of(of.night.base);
  return {{"runs", std::move(told)},
          {"first", runs.front()->environment},
          {"marks", std::move(marks)},
          {"base", base ? Json(*base) : Json()}};
}

/// By case and metric, the samples of each launch in the order in which they were taken.
using SamplesByLaunch = std::map<int, std::vector<double>>;
std::map<RowName, SamplesByLaunch> samples_in(const Result& run) {
  std::map<RowName, SamplesByLaunch> found;
  for (const auto& of : run.cases) {
    for (const auto& launch : of.launches) {
      for (const auto& [metric, samples] : launch.samples) {
        auto& all = found[{of.key, metric}][launch.launch];
        std::ranges::copy_if(samples.values, std::back_inserter(all),
                             [](double value) { return std::isfinite(value); });
      }
    }
  }
  return found;
}

Json launches_json(const SamplesByLaunch& launches, std::size_t most) {
  auto all = Json::array();
  for (const auto& [launch, values] : launches) {
    auto& shown = all.emplace_back(Json::array());
    for (const auto at : even_choice(values.size(), most)) {
      shown.push_back(rounded_to(values[at], digits_of_samples));
    }
  }
  return all;
}

}  // namespace

std::size_t most_samples_of_a_launch(const std::vector<DashboardStream>& streams) {
  std::size_t launches = 0;
  for (const auto& of : streams) {
    launches += std::min(last_runs, of.stream.runs.size()) * usual_launches * of.lines.size();
  }
  return std::clamp<std::size_t>(most_sample_numbers / std::max<std::size_t>(1, launches), 1,
                                 most_of_a_launch);
}

void add_samples(const DashboardStream& of, LoadedRuns& loaded, std::size_t most, Json& samples,
                 std::vector<LeftOut>& left_out) {
  const auto& runs = of.stream.runs;
  for (auto i = runs.size() - std::min(last_runs, runs.size()); i < runs.size(); ++i) {
    try {
      const auto found = samples_in(*loaded.of(runs[i]->path));
      for (const auto& line : of.lines) {
        const auto launches = found.find({line.key, line.metric});
        if (!line.values[i] || launches == found.end()) continue;
        samples[std::to_string(line.number)][std::to_string(i)] =
            launches_json(launches->second, most);
      }
    } catch (const std::exception& error) {  // a file that has changed meanwhile
      left_out.emplace_back(runs[i]->path.filename().string(), why_not_json(error));
    }
  }
}

std::pair<Json, std::optional<std::size_t>> page_data(const std::vector<DashboardStream>& streams,
                                                      const Json& samples,
                                                      const std::filesystem::path& page) {
  std::size_t all_runs = 0;
  auto told = Json::array();
  for (const auto& of : streams) {
    told.push_back(stream_data(of, page));
    all_runs = std::max(all_runs, of.stream.runs.size());
  }
  for (auto kept = all_runs;; kept /= 2) {
    std::vector<Json> lines;
    for (std::size_t stream = 0; stream < streams.size(); ++stream) {
      for (const auto& line : streams[stream].lines) {
        const auto runs = line.values.size();
        if (lines.size() <= line.number) lines.resize(line.number + 1);
        lines[line.number] = line_json(line, stream, runs - std::min(kept, runs));
      }
    }
    Json data = {{"streams", told}, {"lines", std::move(lines)}, {"samples", samples}};
    if (json_text(data).size() <= most_bytes_of_data || kept == 0) {
      return {std::move(data), kept == all_runs ? std::nullopt : std::optional(kept)};
    }
  }
}

std::string link_to(const std::filesystem::path& file, const std::filesystem::path& page) {
  const auto from = std::filesystem::absolute(page).lexically_normal().parent_path();
  const auto way = std::filesystem::absolute(file).lexically_normal().lexically_relative(from);
  std::string link = "./";
  for (const char c : way.generic_string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

}  // namespace ucxbench
