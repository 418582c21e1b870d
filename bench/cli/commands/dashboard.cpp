#include "harness/report/dashboard.hpp"

#include <memory>
#include <string>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "harness/report/scripts.hpp"

namespace ucxbench {
namespace {

struct DashboardOptions {
  std::string tree;
  std::string html = "dashboard.html";
  std::string base;
  std::string otava;
};

Exit run(const DashboardOptions& o) {
  Dashboard dashboard(o.tree, o.base);
  const auto document = json_text(dashboard.document(o.html));
  if (!o.otava.empty()) dashboard.write_otava(o.otava);
  return static_cast<Exit>(run_script_on(document, "dashboard", {"--html", o.html}));
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
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
