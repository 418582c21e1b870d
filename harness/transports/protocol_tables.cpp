#include "harness/transports/protocol_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view estimated = "(?) ";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

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

}  // namespace

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
    const auto count = number(row[0]);
    if (count.value_or(0) == 0) continue;
    const auto words = row[2].substr(row[2].starts_with(estimated) ? estimated.size() : 0);
    tables.used.push_back(
        {operation, std::string(row[1]), std::string(words), std::string(row[3]), *count});
  }
  return tables;
}

}  // namespace ucxbench
