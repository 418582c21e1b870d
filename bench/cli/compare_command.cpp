#include <fmt/format.h>

#include <memory>

#include "bench/cli/commands.hpp"
#include "bench/cli/comparison_options.hpp"

namespace ucxbench {
namespace {

struct CompareOptions {
  std::string base, now;
  ComparisonOptions comparison;
};

void check_results(const Result& base, const Result& now, const CompareOptions& o) {
  if (base.run.contains("id") && base.run.at("id") == now.run.value("id", Json())) {
    throw Failure(Exit::usage,
                  fmt::format("'{}' and '{}' are one and the same run; give two", o.base, o.now));
  }
}

Exit run(const CompareOptions& o, const GlobalOptions& global) {
  o.comparison.check();
  const auto base = read_result(o.base);
  const auto now = read_result(o.now);
  check_results(base, now, o);
  return o.comparison.judge(base, now, global.quiet);
}

}  // namespace

AddedCommand add_compare(CLI::App& app) {
  auto* command = app.add_subcommand("compare", "two recorded runs: a verdict per case");
  const auto options = std::make_shared<CompareOptions>();
  auto& o = *options;
  command->add_option("base", o.base, "the run to compare with")
      ->required()
      ->type_name("BASE.json");
  command->add_option("new", o.now, "the run to judge")->required()->type_name("NEW.json");
  o.comparison.add_options(*command, true);
  return {command, [options](const GlobalOptions& global) { return run(*options, global); }};
}

}  // namespace ucxbench
