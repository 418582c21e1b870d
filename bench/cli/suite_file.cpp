#include "bench/cli/suite_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/core/failure.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

std::string place_of(const std::string& file, const toml::source_region& where) {
  return fmt::format("{}:{}", file, where.begin.line);
}

[[noreturn]] void refuse_suite(const std::string& place, const std::string& why) {
  throw Failure(Exit::usage, place + ": " + why);
}

/// That every table's name begins like one: toml++ 3.3 takes it for granted, and aborts where it
/// checks (found by ci/fuzz/suite.cpp).
void check_headers(std::string_view text, const std::string& file) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t number = 0;
  for (const auto line : split_text(text, '\n')) {
    ++number;
    auto rest = trim_text(line);
    if (!rest.starts_with('[')) continue;
    rest.remove_prefix(rest.starts_with("[[") ? 2 : 1);
    rest = trim_text(rest);
    const auto first = rest.empty() ? '\0' : rest.front();
    if (std::isalnum(static_cast<unsigned char>(first)) != 0) continue;
    if (first == '_' || first == '-' || first == '"' || first == '\'') continue;
    refuse_suite(fmt::format("{}:{}", file, number),
                 "not TOML: expected a table's name behind the bracket, as in [[case]]");
  }
}

toml::table parse_suite(const std::string& file) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(file, error);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in || folder) {
    throw Failure(Exit::usage, fmt::format("cannot read '{}': {}; give a suite's TOML file", file,
                                           std::strerror(folder ? EISDIR : errno)));
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  check_headers(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& wrong) {
    refuse_suite(place_of(file, wrong.source()), fmt::format("not TOML: {}", wrong.description()));
  }
}

void check_keys(const toml::table& table, const std::vector<std::string>& known,
                const std::string& file, const std::string& of) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    refuse_suite(place_of(file, key.source()) + of, unknown_name("key", key.str(), known));
  }
}

SuiteCase case_of(const toml::node& node, const std::string& file, std::size_t number) {
  SuiteCase one;
  one.name = fmt::format("case {}", number);
  one.origin = fmt::format("{}: {}", place_of(file, node.source()), one.name);
  const auto* table = node.as_table();
  if (table == nullptr) refuse_suite(one.origin, "expected [[case]] with args = \"…\" below");
  check_keys(*table, {"args"}, file, ": " + one.name);
  const auto* args = table->get_as<std::string>("args");
  if (args == nullptr || trim_text(args->get()).empty()) {
    refuse_suite(one.origin, "expected args = \"COMMAND OPTIONS\", as args = \"merge -n 2\"");
  }
  one.args = args->get();
  return one;
}

}  // namespace

Suite read_suite(const std::string& file) {
  const auto table = parse_suite(file);
  check_keys(table, {"launches", "max_time", "case"}, file, "");
  Suite suite;
  if (const auto* node = table.get("launches")) {
    const auto launches = node->value_exact<std::int64_t>().value_or(0);
    if (launches < 1 || launches > 10'000) {
      refuse_suite(place_of(file, node->source()), "launches: expected a number, 1 to 10000");
    }
    suite.launches = static_cast<int>(launches);
  }
  if (const auto* node = table.get("max_time")) {
    const auto place = place_of(file, node->source());
    const auto text = node->value_exact<std::string>();
    if (!text) refuse_suite(place, "max_time: expected a time in quotes, as \"10min\"");
    suite.max_time = of_option(place + ": max_time", [&] { return parse_duration(*text); });
  }
  const auto* node = table.get("case");
  if (node == nullptr) refuse_suite(file, "no [[case]]: there is nothing to measure");
  const auto* cases = node->as_array();
  if (cases == nullptr || cases->empty()) {
    refuse_suite(place_of(file, node->source()), "expected [[case]], in two pairs of brackets");
  }
  for (const auto& one : *cases) {
    suite.cases.push_back(case_of(one, file, suite.cases.size() + 1));
  }
  return suite;
}

}  // namespace ucxbench
