#include "harness/transports/protocol_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view estimated = "(?) ";

// 1.22: count, range, protocol, device. 1.21 has the first two in one cell, and no count where it
// does not count.
std::vector<std::string_view> four_cells(std::vector<std::string_view> row) {
  if (row.size() != 3) return row;
  const auto first = row.front();
  const auto blank = std::min(first.find(' '), first.size());
  row.front() = trim_text(first.substr(blank));
  row.insert(row.begin(), first.substr(0, blank));
  return row;
}

std::string without_mark(std::string_view words) {
  return std::string(words.substr(words.starts_with(estimated) ? estimated.size() : 0));
}

// "4433", "256K": exact, since UCX writes a unit only where nothing is left over.
std::optional<std::uint64_t> exact_bytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  if (text.empty()) return std::nullopt;
  const auto unit = units.find(text.back());
  if (unit == std::string_view::npos) return number_in<std::uint64_t>(text);
  const auto count = number_in<std::uint64_t>(text.substr(0, text.size() - 1));
  const auto shift = 10 * (unit + 1);
  if (!count || *count > (UINT64_MAX >> shift)) return std::nullopt;
  return *count << shift;
}

// "0..92", "256K..inf", a lone "0"; empty for what is none.
std::optional<ProtocolRange> range_of(std::string_view text) {
  constexpr std::string_view dots = "..";
  const auto at = text.find(dots);
  const auto from = exact_bytes(text.substr(0, at));
  if (!from) return std::nullopt;
  ProtocolRange range{.operation = {}, .from = *from, .to = from, .protocol = {}, .device = {}};
  if (at == std::string_view::npos) return range;
  const auto end = text.substr(at + dots.size());
  range.to = exact_bytes(end);
  return range.to || end == "inf" ? std::optional(range) : std::nullopt;
}

// "#    tag_send: 0..<egr/short>..8185..<egr/bcopy>..65536..<rndv>..(inf)"
void add_thresholds(std::string_view line, std::vector<ProtocolRange>& ranges) {
  static const std::regex of_line(
      R"(#\s+([a-z_]+)(?:\[\d+\])?: (\d+)((?:\.\.<[^>]+>\.\.\(?\w+\)?)+))");
  static const std::regex of_part(R"(\.\.<([^>]+)>\.\.\(?(\w+)\)?)");
  std::cmatch parts;
  if (!std::regex_match(line.data(), line.data() + line.size(), parts, of_line)) return;
  auto from = number_in<std::uint64_t>({parts[2].first, parts[2].second});
  for (std::cregex_iterator part(parts[3].first, parts[3].second, of_part), end; part != end;
       ++part) {
    const auto next = number_in<std::uint64_t>({(*part)[2].first, (*part)[2].second});
    // "<egr/short>..0": no size has it.
    if (from && next != from) {
      ranges.push_back({.operation = parts[1],
                        .from = *from,
                        .to = next ? std::optional(*next - 1) : std::nullopt,
                        .protocol = (*part)[1],
                        .device = {}});
    }
    from = next;
  }
}

}  // namespace

std::vector<ProtocolRange> parse_protocol_ranges(std::string_view printed) {
  std::vector<ProtocolRange> ranges;
  std::string operation;
  for (const auto line : split_text(printed, '\n')) {
    const auto row = trim_text(line.substr(line.starts_with('#') ? 1 : 0));
    if (!row.starts_with('|') || !row.ends_with('|') || row.size() < 2) {
      add_thresholds(line, ranges);
      continue;
    }
    const auto cells = split_text(row.substr(1, row.size() - 2), '|');
    if (cells.size() <= 2) operation = cells.back();
    if (cells.size() != 3) continue;
    auto range = range_of(cells[0]);
    if (!range) continue;
    range->operation = operation;
    range->protocol = without_mark(cells[1]);
    range->device = cells[2];
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

ProtocolTables parse_protocol_tables(std::string_view log) {
  // "[1795257619.464686] [vm:23622:0]   | … | … |", rules of '+' and '-'
  static const std::regex of_table(R"(\[[0-9.]+\] \[[^\]]*\]\s+(\+[-+]+\+|\|(.*)\|))");
  ProtocolTables tables;
  std::string operation;
  for (const auto text : split_text(trim_text(log), '\n')) {
    std::cmatch line;
    if (!std::regex_match(text.data(), text.data() + text.size(), line, of_table)) {
      if (!text.empty()) tables.rest += fmt::format("{}\n", text);
      continue;
    }
    if (!line[2].matched) continue;
    const auto cells = split_text({line[2].first, line[2].second}, '|');
    // Titles: the endpoint, then what was asked of it, in 1.22 one below the other.
    if (cells.size() <= 2) operation = cells.back();
    const auto row = four_cells(cells);
    if (row.size() != 4) continue;
    const auto count = number_in<std::uint64_t>(row[0]);
    if (count.value_or(0) == 0) continue;
    tables.used.push_back(
        {operation, std::string(row[1]), without_mark(row[2]), std::string(row[3]), *count});
  }
  return tables;
}

}  // namespace ucxbench
