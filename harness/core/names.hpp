#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {

/// The values of an enumeration with their names, each once: on the command line and in files.
template <typename Value, std::size_t Size>
using Names = std::array<std::pair<Value, std::string_view>, Size>;

/// "?" for a value that the table lacks.
template <typename Value, std::size_t Size>
constexpr std::string_view name_of(const Names<Value, Size>& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "?";
}

template <typename Value, std::size_t Size>
constexpr std::optional<Value> value_of(const Names<Value, Size>& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

/// Throws Failure(Exit::usage) with `where` ("--scaling: ") before "unknown <what> …" for a name
/// that is nobody's; a value without a name is not listed.
template <typename Value, std::size_t Size>
Value parse_name(const Names<Value, Size>& names, std::string_view given, std::string_view where,
                 std::string_view what) {
  if (const auto value = value_of(names, given)) return *value;
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (!name.empty()) known.emplace_back(name);
  }
  throw Failure(Exit::usage, std::string(where) + unknown_name(what, given, known));
}

}  // namespace ucxbench
