#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "harness/analysis/comparison/environments.hpp"
#include "harness/analysis/comparison/streams.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/text.hpp"
#include "harness/report/scripts.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

struct DashboardOptions {
  std::string tree;
  std::string html = "dashboard.html";
  std::string base;
  std::string otava;
  bool streams = false;
  bool impossible = false;
};

// Of a large folder of runs, some KB each.
constexpr std::uint64_t most_bytes_of_heads = std::uint64_t{1} << 30U;

Exit tell_streams(const std::string& file) {
  const auto text = read_given(file, most_bytes_of_heads, "give a list of runs");
  std::vector<Result> runs;
  Json all = Json::array();
  for (const auto& line : split_text(trim_text(text), '\n')) {
    try {
      auto run = parse_result(std::string(line), "the run");
      // By itself, too: what only this run has must not end what is said of the others.
      places_in_streams({&run, 1});
      environment_in_words(run);
      runs.push_back(std::move(run));
      all.push_back(Json::object());
    } catch (const std::exception& damage) {
      all.push_back({{"damage", why_not_json(damage)}});
    }
  }
  const auto places = places_in_streams(runs);
  std::size_t at = 0;
  for (auto& told : all) {
    if (!told.empty()) continue;
    const auto& place = places[at];
    told = {{"machine", place.machine},
            {"branch", place.branch},
            {"what", place.what},
            {"side", place.side},
            {"segment", place.segment},
            {"differs", place.differs},
            {"environment", environment_in_words(runs[at++])}};
  }
  print_to(stdout, "{}\n", json_text(all));
  return Exit::done;
}

// Of run files, a path each line as JSON: {case: why no machine gives a figure of it}.
Exit tell_impossible(const std::string& file) {
  const auto text = read_given(file, most_bytes_of_heads, "give a list of run files");
  Json all = Json::array();
  for (const auto& line : split_text(trim_text(text), '\n')) {
    auto& told = all.emplace_back(Json::object());
    try {
      const auto run = read_result(read_json(line).get<std::string>());
      told = impossible_cases(Judged(run));
    } catch (const std::exception&) {
      continue;  // whoever reads it says what is wrong with it
    }
  }
  print_to(stdout, "{}\n", json_text(all));
  return Exit::done;
}

Exit run(const DashboardOptions& o) {
  if (o.streams) return tell_streams(o.tree);
  if (o.impossible) return tell_impossible(o.tree);
  // Verdicts are this program's own: the script asks it to compare.
  std::vector<std::string> arguments = {o.tree, "--html", o.html, "--program",
                                        own_program().string()};
  if (!o.base.empty()) arguments.insert(arguments.end(), {"--base", o.base});
  if (!o.otava.empty()) arguments.insert(arguments.end(), {"--otava", o.otava});
  return static_cast<Exit>(run_script("dashboard", arguments));
}

}  // namespace

AddedCommand add_dashboard(CLI::App& app) {
  auto* command =
      app.add_subcommand("dashboard", "make one page of a directory of runs: verdicts and history");
  add_examples(*command, {"dashboard results/runs --html runs.html"});
  const auto options = std::make_shared<DashboardOptions>();
  auto& o = *options;
  command->add_option("tree", o.tree, "the folder: MACHINE/YYYY-MM/*.json")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--html", o.html, "the page")->type_name("FILE")->capture_default_str();
  command
      ->add_option(
          "--base", o.base,
          "compare the newest runs with this one, instead of the last in which each row was good")
      ->type_name("RUN.json");
  command
      ->add_option("--otava", o.otava,
                   "also the history for Apache Otava: CSV files and otava.yaml")
      ->type_name("FOLDER");
  // What the page's script asks: of run files without their cases, a line each and oldest first,
  // where each stands, or what is wrong with it. Nobody else needs it.
  command->add_flag("--streams", o.streams)->group("");
  // Likewise, of the names of run files, which of their figures count.
  command->add_flag("--impossible", o.impossible)->group("");
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
