#include "harness/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace ucxbench {
namespace {

constexpr std::size_t most_listed = 20;  ///< names; of more nobody finds theirs

// Levenshtein's distance by rows, in which two neighbours that are swapped count once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

/// Null where none is near, or begins like it.
const std::string* nearest_of(std::string_view given, const std::vector<std::string>& known) {
  if (given.size() < 3 || known.empty()) return nullptr;
  const auto distance = [&](const std::string& name) { return edit_distance(given, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (distance(*nearest) <= 2) return &*nearest;
  const auto longer =
      std::ranges::find_if(known, [&](const std::string& name) { return name.starts_with(given); });
  return longer == known.end() ? nullptr : &*longer;
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

std::string hex_text(std::span<const std::uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto* nearest = nearest_of(given, known);
  return nearest != nullptr ? fmt::format("did you mean '{}'?", *nearest) : "";
}

std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known) {
  const auto hint = did_you_mean(given, known);
  auto text = fmt::format("unknown {} '{}'", what, given);
  if (!hint.empty()) text += ": " + hint;
  if (known.size() > most_listed) return text;
  return text + fmt::format("{}known: {}", hint.empty() ? ": " : " ", fmt::join(known, ", "));
}

}  // namespace ucxbench
