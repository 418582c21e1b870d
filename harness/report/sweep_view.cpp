#include "harness/report/sweep_view.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_of_sweep = 16;

const Json& sweep_list(const Case& of, const char* name) {
  static const Json none = Json::array();
  const auto found = of.sweep.find(name);
  return found == of.sweep.end() || !found->is_array() ? none : *found;
}

std::string sweep_share(const Json& of, const char* name) {
  const auto share = number_at(of, name);
  return share ? share_text(*share) : "-";
}

std::string sweep_z(const Json& of) {
  const auto z = number_at(of, "z");
  return z ? fmt::format("{:.1f}", *z) : "-";
}

void add_end_columns(Grid& grid) {
  for (const auto& column : std::vector<Grid::Column>{{"", "pairs"},
                                                      {"median", "GB/s"},
                                                      {"median", "share"},
                                                      {"by itself", "sends"},
                                                      {"by itself", "receives"},
                                                      {"by itself", "z"},
                                                      {"", "slow"}}) {
    grid.columns.push_back(column);
  }
}

void add_end_cells(const Json& end, std::vector<std::string>& row) {
  row.insert(row.end(), {text_at(end, "/pairs"), significant(number_at(end, "p50_GBps"), 3),
                         sweep_share(end, "share"), sweep_share(end, "sends"),
                         sweep_share(end, "receives"), sweep_z(end), text_at(end, "/slow", "")});
}

}  // namespace

Grid sweep_hosts_of(const Case& of) {
  Grid grid{.columns = {{"", "host"}}, .rows = {}};
  add_end_columns(grid);
  for (const auto& host : sweep_list(of, "hosts")) {
    if (grid.rows.size() == most_of_sweep) break;
    grid.rows.push_back({on_one_line(text_at(host, "/host"))});
    add_end_cells(host, grid.rows.back());
  }
  return grid;
}

std::string shares_of_sweep(const Case& of) {
  const auto* whole = text_at(of.sweep, "/against") == "limit" ? "the limit" : "the median pair";
  const auto measured = number_at(of.sweep, "measured_pairs");
  const auto all = number_at(of.sweep, "all_pairs");
  if (!measured || !all || *measured >= *all) return whole;
  return fmt::format("{}, only {} of {} pairs between hosts measured", whole, *measured, *all);
}

Grid slow_rails_of(const Case& of) {
  Grid grid{.columns = {{"", "rank"}, {"", "host"}, {"", "device"}}, .rows = {}};
  add_end_columns(grid);
  for (const auto& rail : sweep_list(of, "rails")) {
    if (text_at(rail, "/slow", "").empty() || grid.rows.size() == most_of_sweep) break;
    grid.rows.push_back({text_at(rail, "/rank"), on_one_line(text_at(rail, "/host")),
                         on_one_line(text_at(rail, "/devices", "?"))});
    add_end_cells(rail, grid.rows.back());
  }
  return grid;
}

Grid slow_links_of(const Case& of) {
  Grid grid{.columns = {{"", "from"},
                        {"", "to"},
                        {"", "GB/s"},
                        {"", "share"},
                        {"", "of what both reach with others"},
                        {"", "z"}},
            .rows = {}};
  for (const auto& link : sweep_list(of, "links")) {
    if (grid.rows.size() == most_of_sweep) break;
    grid.rows.push_back({on_one_line(text_at(link, "/from")), on_one_line(text_at(link, "/to")),
                         significant(number_at(link, "p50_GBps"), 3), sweep_share(link, "share"),
                         sweep_share(link, "of_expected"), sweep_z(link)});
  }
  return grid;
}

}  // namespace ucxbench
