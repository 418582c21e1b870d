#include "bench/cli/options/comparison_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/cli/options/outputs.hpp"
#include "harness/core/names.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/drawn.hpp"
#include "harness/report/scripts.hpp"

namespace ucxbench {
namespace {

constexpr Names<Exit, 3> verdicts = {{{Exit::gate, "regression", "status 1"},
                                      {Exit::inconclusive, "missing", "status 6"},
                                      {Exit::inconclusive, "inconclusive", "status 6"}}};

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
    parse_name(verdicts, name, "--fail-on: ", "verdict");
    names.emplace(name);
  }
  return names;
}

/// The status for the first of `fail_on` that a row is, which it names on stderr.
Exit verdict_of(const Comparison& comparison, const std::set<std::string, std::less<>>& fail_on) {
  const auto any = [&](Change change) {
    return std::ranges::any_of(comparison.series,
                               [&](const SeriesChange& series) { return series.change == change; });
  };
  const std::map<std::string_view, bool> is = {
      {"regression", has_loss(comparison)},
      {"missing", any(Change::missing)},
      {"inconclusive", !nothing_decided(comparison).empty() || any(Change::inconclusive)}};
  for (const auto& [exit, name, about] : verdicts) {
    if (!is.at(name) || !fail_on.contains(name)) continue;
    print_to(stderr, "ucx-bench: --fail-on {}: {}\n", name, about);
    return exit;
  }
  return Exit::done;
}

}  // namespace

void ComparisonOptions::add_options(CLI::App& command, bool across) {
  command
      .add_option("--alpha", demands_.alpha,
                  "chance of any false alarm in a comparison without a change")
      ->check(in_range(1e-6, 0.5))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--floor", [this](const std::string& text) { demands_.floor = parse_percent(text); },
          "changes up to this do not count")
      ->type_name("PERCENT")
      ->default_str(fmt::format("{:g}%", 100 * demands_.floor));
  command
      .add_option_function<std::string>(
          "--fail-on", [this](const std::string& text) { fail_on_ = parse_fail_on(text); },
          help_on(verdicts) + ", or a list; none by default")
      ->type_name("LIST");
  if (across) {
    command.add_flag("--across-environments", demands_.across_environments,
                     "give verdicts although UCX, the GPU driver or the topology is another");
  }
  command.add_option("--json", json_, "the comparison: a file, or - for stdout")->type_name("FILE");
  command.add_option("--markdown", markdown_, "a table: a file, or - for stdout")
      ->type_name("FILE");
  command.add_option("--junit", junit_, "JUnit XML, a test case per row: a file, or - for stdout")
      ->type_name("FILE");
  command
      .add_option("--html", html_,
                  "one page, both runs side by side on one time scale: a file, or - for stdout")
      ->type_name("FILE");
}

void ComparisonOptions::check(const std::vector<std::string>& inputs) const {
  check_outputs({{"json", json_}, {"markdown", markdown_}, {"junit", junit_}, {"html", html_}},
                inputs);
}

Exit ComparisonOptions::judge(const Result& base, const Result& now,
                              const GlobalOptions& global) const {
  const auto comparison = compare(base, now, demands_);
  const bool json_shown =
      !json_.empty() && write_output(json_, to_text(comparison_json(comparison)) + "\n");
  const bool markdown_shown = write_output(markdown_, comparison_markdown(comparison));
  const bool junit_shown =
      !junit_.empty() && write_output(junit_, comparison_junit(comparison, now));
  if (!json_shown && !markdown_shown && !junit_shown && html_ != "-" && !global.quiet) {
    print_to(stdout, "{}",
             comparison_table(comparison, global.verbose,
                              isatty(STDOUT_FILENO) == 1 && !global.all_rows));
  } else if (const auto last = nothing_decided(comparison); !last.empty()) {
    print_to(stderr, "{}\n", last);
  }
  std::fflush(stdout);
  const auto exit = verdict_of(comparison, fail_on_);
  if (html_.empty()) return exit;
  const auto drawn = run_script_on(json_text(comparison_to_draw(comparison, base, now)),
                                   "comparison", {"-o", html_});
  return worse(exit, static_cast<Exit>(drawn));
}

}  // namespace ucxbench
