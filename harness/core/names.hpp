#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {

/// A value with its name on the command line and in files; `about` follows the name in a help.
template <typename Value>
struct Named {
  Value value;
  std::string_view name;
  std::string_view about{};
};

/// Values with their names; name_of() needs each value once.
template <typename Value, std::size_t Size>
using Names = std::array<Named<Value>, Size>;

/// Of a table whose rows have a `name`: those that are not empty.
template <typename Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) {
    if (!row.name.empty()) names.emplace_back(row.name);
  }
  return names;
}

/// The same as a help has them: "tag | stream | am (active messages)".
template <typename Table>
std::string help_on(const Table& table) {
  std::string text;
  for (const auto& row : table) {
    if (row.name.empty()) continue;
    text.append(text.empty() ? "" : " | ").append(row.name);
    if constexpr (requires { row.about; }) {
      if (!row.about.empty()) text.append(" (").append(row.about).append(")");
    }
  }
  return text;
}

/// "?" for a value that the table lacks.
template <typename Value, std::size_t Size>
constexpr std::string_view name_of(const Names<Value, Size>& names, Value value) {
  for (const auto& known : names) {
    if (known.value == value) return known.name;
  }
  return "?";
}

template <typename Value, std::size_t Size>
constexpr std::optional<Value> value_of(const Names<Value, Size>& names, std::string_view name) {
  for (const auto& known : names) {
    if (known.name == name) return known.value;
  }
  return std::nullopt;
}

/// Throws Failure(Exit::usage) with `where` ("--scaling: ") before "unknown <what> …" for a name
/// that is nobody's; a value without a name is not listed.
template <typename Value, std::size_t Size>
Value parse_name(const Names<Value, Size>& names, std::string_view given, std::string_view where,
                 std::string_view what) {
  if (const auto value = value_of(names, given)) return *value;
  throw Failure(Exit::usage, std::string(where) + unknown_name(what, given, names_in(names)));
}

}  // namespace ucxbench
