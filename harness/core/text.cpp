#include "harness/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ucxbench {
namespace {

// Levenshtein distance by rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view trim_text(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(trim_text(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return edit_distance(given, a) < edit_distance(given, b);
      });
  const bool near =
      nearest != known.end() && edit_distance(given, *nearest) <= 2 && given.size() > 2;
  return near ? fmt::format("did you mean '{}'?", *nearest) : "";
}

std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known) {
  const auto hint = did_you_mean(given, known);
  return fmt::format("unknown {} '{}': {}{}known: {}", what, given, hint, hint.empty() ? "" : " ",
                     fmt::join(known, ", "));
}

}  // namespace ucxbench
