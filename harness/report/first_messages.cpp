#include "harness/report/first_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "harness/report/interval_text.hpp"

namespace ucxbench {
namespace {

/// The cases of one size and number of peers, by their kind of buffers.
using Cell = std::map<std::string, const Case*>;

std::map<std::pair<std::uint64_t, int>, Cell> cells_of(const Block& block) {
  std::map<std::pair<std::uint64_t, int>, Cell> cells;
  for (const auto* of : block.measured) {
    const auto* peers = axis_of(*of, "peers");
    const auto* buffers = axis_of(*of, "buffers");
    if (peers == nullptr || buffers == nullptr || !peers->value.is_number()) continue;
    cells[{bytes_of(*of).value_or(0), peers->value.get<int>()}][buffers->text] = of;
  }
  return cells;
}

std::optional<double> figure(const Cell& cell, const char* buffers, const char* metric) {
  const auto of = cell.find(buffers);
  if (of == cell.end()) return std::nullopt;
  const auto found = of->second->metrics.find(metric);
  return found == of->second->metrics.end() ? std::nullopt : found->second.quantiles.p50;
}

std::optional<Interval> interval(const Cell& cell, const char* buffers, const char* metric) {
  const auto of = cell.find(buffers);
  return of == cell.end() ? std::nullopt : interval_of(*of->second, metric);
}

/// What `a` takes longer than `b`. Where that is less than nothing, the runs vary by more than it.
std::string longer(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return "-";
  return *a < *b ? "noise" : significant(*a - *b, 3);
}

// Only these pages come with their first touch.
bool has_page_faults(const Case& of) {
  const auto kinds = texts_of(of.parameters.value("memory", Json()));
  if (kinds.empty()) return false;
  const auto place = place_of_memory(kinds.back());
  return place == "host" || place == "managed";
}

std::optional<PoolCosts> pool_costs(const Cell& cell, int peers) {
  const auto pool = figure(cell, "pool", "allocate_us");
  const auto pool_first = figure(cell, "pool", "pool_first_message_us");
  const auto pooled = figure(cell, "pool", "first_message_us");
  const auto allocate = figure(cell, "fresh", "allocate_us");
  const auto fresh = figure(cell, "fresh", "first_message_us");
  const auto release = figure(cell, "fresh", "release_us");
  if (!pool || !pool_first || !pooled || !allocate || !fresh || !release) return std::nullopt;
  return PoolCosts{*pool, *pool_first, *pooled, *allocate, *fresh, *release, peers};
}

/// How far the two sides of transfers_until_paid may be from what they are by the medians.
struct PoolIntervals {
  std::optional<Interval> extra_us, saved_us;
};

PoolIntervals pool_intervals(const Cell& cell, int peers) {
  const auto pooled = interval(cell, "pool", "first_message_us");
  const auto fresh =
      sum(sum(interval(cell, "fresh", "allocate_us"), interval(cell, "fresh", "first_message_us")),
          interval(cell, "fresh", "release_us"));
  const auto first = difference(interval(cell, "pool", "pool_first_message_us"), pooled);
  return {.extra_us = sum(interval(cell, "pool", "allocate_us"), scaled(first, peers)),
          .saved_us = difference(fresh, pooled)};
}

std::uint64_t whole_transfers(double transfers) {
  return static_cast<std::uint64_t>(std::ceil(std::clamp(transfers, 0.0, 1e18)));
}

std::string paid_after(const PoolCosts& costs, const PoolIntervals& intervals) {
  const auto& [extra, saved] = intervals;
  if (!extra || !saved) return std::string(unknown_cell) + " (one launch)";
  if (saved->high <= 0) return "never";
  const auto least = whole_transfers(extra->low / saved->high);
  const auto by_medians = transfers_until_paid(costs);
  if (saved->low <= 0 || !by_medians) {
    return fmt::format("{} (after {} or more, or never)", unknown_cell, counted(least, "transfer"));
  }
  const auto most = whole_transfers(extra->high / saved->low);
  if (most == 0) return "at once";
  const bool range = extra->kind == Interval::Kind::range || saved->kind == Interval::Kind::range;
  return fmt::format("after {} ({}..{}{})", counted(*by_medians, "transfer"), least, most,
                     range ? ", range" : "");
}

}  // namespace

Grid first_messages_of(const Block& block) {
  const std::string first = "first message, us";
  const std::string more = "of which, us";
  const std::string once = "once, us";
  Grid grid{.columns = {{"", "size"},
                        {"", "peers"},
                        {first, "pool"},
                        {first, "own"},
                        {first, "fresh"},
                        {"", "steady"},
                        {more, "first touch"},
                        {more, "page faults"},
                        {once, "register"},
                        {once, "new pool"},
                        {once, "its first"}},
            .rows = {}};
  for (const auto& [key, cell] : cells_of(block)) {
    const auto own = figure(cell, "own", "first_message_us");
    const auto fresh = figure(cell, "fresh", "first_message_us");
    const auto steady = figure(cell, "own", "steady_us");
    const auto& any = *cell.begin()->second;
    std::vector<std::string> row = {size_of(any), fmt::format("{}", key.second)};
    for (const auto& value : {figure(cell, "pool", "first_message_us"), own, fresh, steady}) {
      row.push_back(significant(value, 3));
    }
    row.push_back(longer(own, steady));
    row.push_back(has_page_faults(any) ? longer(fresh, own) : "-");
    for (const auto& value :
         {figure(cell, "own", "registration_us"), figure(cell, "pool", "allocate_us"),
          figure(cell, "pool", "pool_first_message_us")}) {
      row.push_back(significant(value, 3));
    }
    grid.rows.push_back(std::move(row));
    const auto of_own = interval(cell, "own", "first_message_us");
    const auto of_fresh = interval(cell, "fresh", "first_message_us");
    const auto of_steady = interval(cell, "own", "steady_us");
    const std::vector<std::optional<Interval>> intervals = {
        interval(cell, "pool", "first_message_us"),
        of_own,
        of_fresh,
        of_steady,
        difference(of_own, of_steady),
        has_page_faults(any) ? difference(of_fresh, of_own) : std::nullopt,
        interval(cell, "own", "registration_us"),
        interval(cell, "pool", "allocate_us"),
        interval(cell, "pool", "pool_first_message_us")};
    if (std::ranges::none_of(intervals, [](const auto& of) { return of.has_value(); })) continue;
    grid.rows.push_back({interval_head(intervals), ""});
    for (const auto& of : intervals) grid.rows.back().push_back(interval_cell(of, 3));
  }
  return grid;
}

std::string pool_pays(const Block& block) {
  if (block.kind() != ViewKind::first_messages) return "";
  std::map<int, std::vector<std::string>> by_peers;
  for (const auto& [key, cell] : cells_of(block)) {
    const auto costs = pool_costs(cell, key.second);
    if (!costs) continue;
    by_peers[key.second].push_back(size_of(*cell.begin()->second) + " " +
                                   paid_after(*costs, pool_intervals(cell, key.second)));
  }
  std::vector<std::string> parts;
  for (const auto& [peers, sizes] : by_peers) {
    parts.push_back(
        fmt::format("{}: {}", counted(static_cast<std::size_t>(peers), "peer"), join(sizes, ", ")));
  }
  return join(parts, "; ");
}

std::optional<std::uint64_t> transfers_until_paid(const PoolCosts& c) {
  const auto extra = c.pool_us + c.peers * (c.pool_first_us - c.pooled_us);
  const auto saved = c.allocate_us + c.fresh_us + c.release_us - c.pooled_us;
  if (!(saved > 0)) return std::nullopt;
  return extra > 0 ? static_cast<std::uint64_t>(std::ceil(extra / saved)) : 0;
}

}  // namespace ucxbench
