#include "harness/report/traffic_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/units.hpp"
#include "harness/report/interval_text.hpp"
#include "harness/result/media.hpp"
#include "harness/result/phases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_of_traffic = 12;  ///< the rest is in the run file

bool replays(const Case& of) { return number_at(of.parameters, "recorded_ms").has_value(); }

/// By receiver, the sender that it waited for longest, and the mean time in ms.
std::map<std::string, std::pair<std::string, double>> longest_waits(const Case& of) {
  std::map<std::string, std::pair<std::string, double>> longest;
  for (const auto& pair : of.pairs) {
    const auto ms = number_at(pair, "waiting_ms").value_or(0);
    auto& so_far = longest[text_at(pair, "/dst")];
    if (ms > so_far.second) so_far = {text_at(pair, "/src"), ms};
  }
  return longest;
}

std::string size_of_messages(const Json& pair, const char* name) {
  const auto bytes = number_at(pair, name);
  return bytes && *bytes >= 0 && *bytes < 0x1p63 ? spaced_size(static_cast<std::uint64_t>(*bytes))
                                                 : "-";
}

/// What the path allows a pair: its links, or what was calibrated.
std::optional<double> peak_of(const Json& pair) {
  const auto limit = number_at(pair, "limit_GBps");
  return limit ? limit : number_at(pair, "calibrated_GBps");
}

constexpr const char* recorded = "recorded_GBps";

void add_reached(std::vector<std::string>& row, const Json& pair, const char* name,
                 const std::optional<double>& peak) {
  const auto rate = number_at(pair, name);
  // What was recorded is one run.
  const auto interval = std::string_view(name) == recorded ? std::nullopt : interval_at(pair, name);
  row.push_back(rate ? significant(rate, 3) + interval_behind(interval) : "cannot tell");
  row.push_back(rate && peak && *peak > 0
                    ? share_text(*rate / *peak) + percent_behind(scaled(interval, 1 / *peak))
                    : no_cell);
}

}  // namespace

Grid waits_of(const Case& of) {
  if (!replays(of)) return {};
  Grid grid{.columns = {{"", "rank"}}, .rows = {}};
  std::vector<std::vector<double>> ms;  // by phase and rank
  for (const auto& phase : of.phases) {
    if (kind_of(phase) == PhaseKind::moving) continue;
    const auto by_rank = phase.value("by_rank_ms", Json::array());
    auto& own = ms.emplace_back();
    for (const auto& value : by_rank) own.push_back(value.is_number() ? value.get<double>() : 0);
    if (own.size() != ms.front().size()) return {};
    grid.columns.push_back({"ms", text_at(phase, "/name")});
  }
  if (ms.empty()) return {};
  grid.columns.insert(grid.columns.end(), {{"", "% waiting"}, {"", "most for rank"}});
  const auto& waiting = ms.back();
  const auto longest = longest_waits(of);
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < waiting.size(); ++rank) ranks.push_back(rank);
  std::ranges::stable_sort(ranks, std::ranges::greater(), [&](auto rank) { return waiting[rank]; });
  if (ranks.size() > most_of_traffic) ranks.resize(most_of_traffic);
  for (const auto rank : ranks) {
    std::vector<std::string> row{std::to_string(rank)};
    double all = 0;
    for (const auto& phase : ms) {
      all += phase[rank];
      row.push_back(significant(phase[rank], 3));
    }
    row.push_back(all > 0 ? share_text(waiting[rank] / all) : "-");
    const auto found = longest.find(row.front());
    row.push_back(found != longest.end() && found->second.second > 0 ? found->second.first : "-");
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid traffic_of(const Case& of) {
  if (!replays(of)) return {};
  std::vector<std::pair<double, const Json*>> pairs;  // with the part of the peak that it reached
  bool numa = false;
  for (const auto& pair : of.pairs) {
    if (number_at(pair, "p50_bytes")) {
      const auto rate = number_at(pair, "under_way_GBps");
      const auto peak = peak_of(pair).value_or(1);
      pairs.emplace_back(rate && peak > 0 ? *rate / peak : HUGE_VAL, &pair);
      numa |= pair.contains("numa");
    }
  }
  std::ranges::stable_sort(pairs, {}, &std::pair<double, const Json*>::first);
  if (pairs.size() > most_of_traffic) pairs.resize(most_of_traffic);
  Grid grid{.columns = {{"", "from->to"}, {"", "class"}}, .rows = {}};
  if (numa) grid.columns.push_back({"", "NUMA"});
  grid.columns.insert(grid.columns.end(), {{"", "path"},
                                           {"message size", "p50"},
                                           {"message size", "p99"},
                                           {"peak", "GB/s"},
                                           {"recorded", "GB/s"},
                                           {"recorded", "of peak"},
                                           {"here", "GB/s"},
                                           {"here", "of peak"}});
  for (const auto& [reached, pair] : pairs) {
    const auto peak = peak_of(*pair);
    std::vector<std::string> row{
        fmt::format("{}->{}", text_at(*pair, "/src"), text_at(*pair, "/dst")),
        text_at(*pair, "/class")};
    if (numa) row.push_back(text_at(*pair, "/numa"));
    row.push_back(carrier_of_member(text_at(*pair, "/path")));
    row.push_back(size_of_messages(*pair, "p50_bytes"));
    row.push_back(size_of_messages(*pair, "p99_bytes"));
    row.push_back(significant(peak, 3));
    add_reached(row, *pair, recorded, peak);
    add_reached(row, *pair, "under_way_GBps", peak);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace ucxbench
