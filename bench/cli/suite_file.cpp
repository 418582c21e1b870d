#include "bench/cli/suite_file.hpp"

#include <fmt/format.h>

#include "bench/cli/toml_file.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

SuiteCase case_of(const toml::node& node, const std::string& file, std::size_t number) {
  SuiteCase one;
  one.name = fmt::format("case {}", number);
  one.origin = fmt::format("{}: {}", toml_place(file, node), one.name);
  const auto* table = node.as_table();
  if (table == nullptr) refuse_toml(one.origin, "expected [[case]] with args = \"…\" below");
  check_toml_keys(*table, {"args"}, file, ": " + one.name);
  const auto* args = table->get_as<std::string>("args");
  if (args == nullptr || trim_text(args->get()).empty()) {
    refuse_toml(one.origin, "expected args = \"COMMAND OPTIONS\", as args = \"merge -n 2\"");
  }
  one.args = args->get();
  return one;
}

}  // namespace

Suite read_suite(const std::string& file) {
  const auto table = parse_toml(file, "a suite's TOML file");
  check_toml_keys(table, {"launches", "max_time", "case"}, file, "");
  Suite suite;
  if (const auto* node = table.get("launches")) {
    const auto launches = node->value_exact<std::int64_t>().value_or(0);
    if (launches < 1 || launches > 10'000) {
      refuse_toml(toml_place(file, *node), "launches: expected a number, 1 to 10000");
    }
    suite.launches = static_cast<int>(launches);
  }
  if (const auto* node = table.get("max_time")) {
    const auto place = toml_place(file, *node);
    const auto text = node->value_exact<std::string>();
    if (!text) refuse_toml(place, "max_time: expected a time in quotes, as \"10min\"");
    suite.max_time = at_toml(place + ": max_time", [&] { return parse_duration(*text); });
  }
  const auto* node = table.get("case");
  if (node == nullptr) refuse_toml(file, "no [[case]]: there is nothing to measure");
  const auto* cases = node->as_array();
  if (cases == nullptr || cases->empty()) {
    refuse_toml(toml_place(file, *node), "expected [[case]], in two pairs of brackets");
  }
  for (const auto& one : *cases) {
    suite.cases.push_back(case_of(one, file, suite.cases.size() + 1));
  }
  return suite;
}

}  // namespace ucxbench
