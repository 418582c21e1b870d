#include "harness/analysis/comparison/carriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/analysis/comparison/shapes.hpp"
#include "harness/result/media.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// The case, or its pair, which knows the medium where the records of launches do not.
const Json& with_medium(const Case& of, const std::optional<std::pair<int, int>>& pair) {
  if (!pair) return of.path;
  const auto found = std::ranges::find_if(of.pairs, [&](const Json& own) {
    return number_at(own, "src") == pair->first && number_at(own, "dst") == pair->second;
  });
  return found != of.pairs.end() && found->contains("medium") ? *found : of.path;
}

/// As the run calls it; empty of a row that is not of one pair, or of the other run's.
std::optional<std::pair<int, int>> pair_in(bool base, const SeriesChange& row) {
  if (!row.pair || row.pair->slowest_of != 1) return std::nullopt;
  return base ? row.pair->in_base : std::pair(row.pair->src, row.pair->dst);
}

std::string carriers_of(const Result& run, bool base, const SeriesChange& row) {
  const auto* of = find_case(run, row.key);
  if (of == nullptr) return "";
  const auto pair = pair_in(base, row);
  const auto is_of_pair = [&](const LaunchRecord& record) {
    return pair == std::pair(record.src, record.dst);
  };
  // One record of a workload's launch stands for all of its pairs.
  const bool apart = std::ranges::any_of(of->launches, is_of_pair);
  const auto medium = medium_in(with_medium(*of, apart ? pair : std::nullopt));
  std::set<std::string> carriers;
  for (const auto& record : of->launches) {
    if (!apart || is_of_pair(record)) carriers.merge(main_carriers(record.path, medium));
  }
  if (carriers.empty()) carriers = main_carriers(of->path, medium);
  return join({carriers.begin(), carriers.end()}, ", ");
}

}  // namespace

std::vector<std::string> compare_carriers(std::vector<SeriesChange>& series, const Result& base,
                                          const Result& now) {
  std::map<std::string, std::vector<const SeriesChange*>> differences;
  for (auto& row : series) {
    row.carriers = {carriers_of(base, true, row), carriers_of(now, false, row)};
    if (!other_carriers(row)) continue;
    const auto words = fmt::format("base {}, new {}", row.carriers[0], row.carriers[1]);
    differences[words].push_back(&row);
    if (row.change != Change::regressed && row.change != Change::improved) continue;
    row.reason = Reason::transport;
    row.why = "other transport: " + words;
  }
  std::vector<std::string> lines;
  for (const auto& [words, rows] : differences) {
    lines.push_back(fmt::format("transport used: {}: {} of {}, the first {}", words, rows.size(),
                                counted(series.size(), "row"), name_of(*rows.front())));
  }
  return lines;
}

}  // namespace ucxbench
