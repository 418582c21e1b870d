#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "bench/cli/commands.hpp"
#include "bench/cli/outputs.hpp"
#include "harness/analysis/comparison.hpp"
#include "harness/core/text.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/scripts.hpp"

namespace ucxbench {
namespace {

struct CompareOptions {
  std::string base, now;
  double alpha = 0.01;
  std::string floor = "0.5%";
  std::string fail_on;
  std::string json, markdown, html;
};

double parse_percent(const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const bool percent = used > 0 && (text.substr(used) == "%" || text.substr(used) == " %");
  if (!percent || !(value >= 0) || value > 1000) {
    throw Failure(Exit::usage,
                  fmt::format("--floor '{}': expected a percentage such as 0.5%", text));
  }
  return value / 100;
}

std::set<std::string, std::less<>> parse_fail_on(const std::string& text) {
  std::set<std::string, std::less<>> names;
  if (text.empty()) return names;
  for (const auto name : split_text(text, ',')) {
    if (name != "regression" && name != "inconclusive" && name != "missing") {
      throw Failure(
          Exit::usage,
          "--fail-on: " + unknown_name("verdict", name, {"regression", "inconclusive", "missing"}));
    }
    names.emplace(name);
  }
  return names;
}

Exit gate(const Comparison& comparison, const std::set<std::string, std::less<>>& fail_on) {
  const auto any = [&](Change change) {
    return std::ranges::any_of(comparison.series,
                               [&](const SeriesChange& series) { return series.change == change; });
  };
  if (fail_on.contains("regression") && any(Change::regressed)) return Exit::gate;
  if (fail_on.contains("missing") && any(Change::missing)) return Exit::inconclusive;
  const bool unknown = !comparison.incomparable.empty() || any(Change::inconclusive);
  return fail_on.contains("inconclusive") && unknown ? Exit::inconclusive : Exit::done;
}

void check_results(const Result& base, const Result& now, const CompareOptions& o) {
  if (base.run.contains("id") && base.run.at("id") == now.run.value("id", Json())) {
    throw Failure(Exit::usage,
                  fmt::format("'{}' and '{}' are one and the same run; give two", o.base, o.now));
  }
}

Exit run(const CompareOptions& o, const GlobalOptions& global) {
  const auto fail_on = parse_fail_on(o.fail_on);
  const auto floor = parse_percent(o.floor);
  check_outputs({{"json", o.json}, {"markdown", o.markdown}, {"html", o.html}});
  const auto base = read_result(o.base);
  const auto now = read_result(o.now);
  check_results(base, now, o);
  const auto comparison = compare(base, now, o.alpha, floor);
  const auto text = to_text(comparison_json(comparison));
  const bool json_shown = write_output(o.json, text + "\n");
  const bool markdown_shown = write_output(o.markdown, comparison_markdown(comparison));
  if (!json_shown && !markdown_shown && o.html != "-" && !global.quiet)
    std::fputs(comparison_table(comparison).c_str(), stdout);
  std::fflush(stdout);
  const auto exit = gate(comparison, fail_on);
  if (o.html.empty()) return exit;
  const auto drawn = run_script_on(text, "comparison", {o.base, o.now, "-o", o.html});
  return worse(exit, static_cast<Exit>(drawn));
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
  command
      ->add_option("--alpha", o.alpha, "chance of any false alarm in a comparison without a change")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str();
  command->add_option("--floor", o.floor, "changes up to this do not count")
      ->type_name("PERCENT")
      ->capture_default_str();
  command
      ->add_option("--fail-on", o.fail_on,
                   "regression (status 1), inconclusive, missing (status 6); none by default")
      ->type_name("LIST");
  command->add_option("--json", o.json, "the comparison: a file, or - for stdout")
      ->type_name("FILE");
  command->add_option("--markdown", o.markdown, "a table: a file, or - for stdout")
      ->type_name("FILE");
  command
      ->add_option("--html", o.html,
                   "one page, both runs side by side on one time scale: a file, or - for stdout")
      ->type_name("FILE");
  return {command, [options](const GlobalOptions& global) { return run(*options, global); }};
}

}  // namespace ucxbench
