#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/comparison_options.hpp"
#include "bench/cli/options/help.hpp"
#include "harness/analysis/comparison/halves.hpp"
#include "harness/core/print.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

struct CompareOptions {
  std::string base, now;
  bool with_itself = false;
  ComparisonOptions comparison;
};

void check_results(const Result& base, const Result& now, const CompareOptions& o) {
  if (base.run.contains("id") && base.run.at("id") == now.run.value("id", Json())) {
    throw Failure(Exit::usage,
                  fmt::format("'{}' and '{}' are one and the same run; give two", o.base, o.now));
  }
}

std::size_t launches_in(const Result& result) {
  std::size_t most = 0;
  for (const auto& of : result.cases) {
    for (const auto& [name, metric] : of.metrics)
      most = std::max(most, metric.launch_medians.size());
  }
  return most;
}

/// Runs of `ab` took turns: which began first says nothing.
bool begun_after(const Result& base, const Result& now) {
  const auto begun = [](const Result& of) { return text_at(of.run, "/started_utc", ""); };
  return !base.run.contains("ab") && !begun(now).empty() && begun(base) > begun(now);
}

Exit run(const CompareOptions& o, const GlobalOptions& global) {
  o.comparison.check({o.base, o.now});
  if (o.now.empty() != o.with_itself) {
    throw Failure(Exit::usage, o.with_itself ? "--with-itself: expected one run, not two"
                                             : "expected a second run, NEW.json, or --with-itself");
  }
  const auto base = read_result(o.base);
  if (o.with_itself) {
    if (launches_in(base) < 2) {
      throw Failure(
          Exit::usage,
          fmt::format("--with-itself: '{}' has one launch, and two or more can be compared; "
                      "measure with --launches 12",
                      o.base));
    }
    const auto [a, b] = halves_in_turns(base);
    return o.comparison.judge(a, b, global);
  }
  const auto now = read_result(o.now);
  check_results(base, now, o);
  if (!global.quiet && begun_after(base, now)) {
    print_to(stderr, "'{}', the base, was measured after '{}': should they change places?\n",
             o.base, o.now);
  }
  return o.comparison.judge(base, now, global);
}

}  // namespace

AddedCommand add_compare(CLI::App& app) {
  auto* command = app.add_subcommand("compare", "compare two recorded runs: a verdict per case");
  add_examples(*command, {"compare base.json new.json --fail-on regression",
                          "compare base.json new.json --html compared.html"});
  const auto options = std::make_shared<CompareOptions>();
  auto& o = *options;
  command->add_option("base", o.base, "the run to compare with")
      ->required()
      ->type_name("BASE.json");
  command->add_option("new", o.now, "the run to judge")->type_name("NEW.json");
  command->add_flag("--with-itself", o.with_itself,
                    "instead of NEW.json: one run's own launches in turns, A B B A; a change is a "
                    "false alarm");
  o.comparison.add_options(*command, true);
  return {command, [options](const GlobalOptions& global) { return run(*options, global); }};
}

}  // namespace ucxbench
