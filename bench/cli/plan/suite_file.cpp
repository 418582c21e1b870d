#include "bench/cli/plan/suite_file.hpp"

#include <fmt/format.h>

#include "bench/cli/options/toml_file.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

SuiteCase case_of(const toml::node& node, const std::string& file, std::size_t number) {
  SuiteCase suite_case;
  suite_case.name = fmt::format("case {}", number);
  suite_case.origin = fmt::format("{}: {}", toml_place(file, node), suite_case.name);
  const auto* table = node.as_table();
  if (table == nullptr) refuse_toml(suite_case.origin, "expected [[case]] with args = \"…\" below");
  check_toml_keys(*table, {"args"}, file, ": " + suite_case.name);
  const auto* args = table->get_as<std::string>("args");
  if (args == nullptr || trim_text(args->get()).empty()) {
    refuse_toml(suite_case.origin, "expected args = \"COMMAND OPTIONS\", as args = \"merge -n 2\"");
  }
  suite_case.args = args->get();
  return suite_case;
}

}  // namespace

Suite read_suite(const std::string& file) {
  const auto table = parse_toml(file, "a suite's TOML file");
  check_toml_keys(table, {"launches", "max_time", "case"}, file, "");
  Suite suite;
  suite.launches = toml_number(table, "launches", 1, most_launches, file);
  if (const auto* node = table.get("max_time")) {
    const auto place = toml_place(file, *node);
    const auto text = node->value_exact<std::string>();
    if (!text) refuse_toml(place, "max_time: expected a time in quotes, as \"10min\"");
    suite.max_time = at_toml(place + ": max_time", [&] { return parse_duration(*text); });
  }
  for (const auto& entry : toml_entries(table, "case", "measure", file)) {
    suite.cases.push_back(case_of(entry, file, suite.cases.size() + 1));
  }
  return suite;
}

}  // namespace ucxbench
