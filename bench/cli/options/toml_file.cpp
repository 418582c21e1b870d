#include "bench/cli/options/toml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "bench/cli/options/toml_text.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

/// People write these files.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;

std::string place_of_source(const std::string& file, const toml::source_region& where) {
  return fmt::format("{}:{}", file, where.begin.line);
}

}  // namespace

toml::table parse_toml(const std::string& file, const std::string& what) {
  const auto text = read_given(file, most_bytes, "give " + what);
  check_toml_text(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& wrong) {
    refuse_toml(place_of_source(file, wrong.source()),
                fmt::format("not TOML: {}", wrong.description()));
  }
}

std::string toml_place(const std::string& file, const toml::node& node) {
  return place_of_source(file, node.source());
}

void refuse_toml(const std::string& place, const std::string& why) {
  throw Failure(Exit::usage, place + ": " + in_one_line(why));
}

std::optional<int> toml_number(const toml::table& table, const std::string& key, int least,
                               int most, const std::string& file) {
  const auto* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  const auto number = node->value_exact<std::int64_t>();
  if (!number || *number < least || *number > most) {
    refuse_toml(toml_place(file, *node),
                fmt::format("{}: expected a number, {} to {}", key, least, most));
  }
  return static_cast<int>(*number);
}

const toml::array& toml_entries(const toml::table& table, const std::string& key,
                                const std::string& purpose, const std::string& file) {
  const auto* node = table.get(key);
  if (node == nullptr) {
    refuse_toml(file, fmt::format("no [[{}]]: there is nothing to {}", key, purpose));
  }
  const auto* entries = node->as_array();
  if (entries == nullptr || entries->empty()) {
    refuse_toml(toml_place(file, *node),
                fmt::format("expected [[{}]], in two pairs of brackets", key));
  }
  return *entries;
}

void check_toml_keys(const toml::table& table, const std::vector<std::string>& known,
                     const std::string& file, const std::string& of) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    refuse_toml(place_of_source(file, key.source()) + of, unknown_name("key", key.str(), known));
  }
}

}  // namespace ucxbench
