#include <memory>

#include "bench/cli/commands.hpp"
#include "harness/core/files.hpp"
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
  // Verdicts are this program's own: the script asks it to compare.
  std::vector<std::string> arguments = {o.tree, "--html", o.html, "--program",
                                        own_program().string()};
  if (!o.base.empty()) arguments.insert(arguments.end(), {"--base", o.base});
  if (!o.otava.empty()) arguments.insert(arguments.end(), {"--otava", o.otava});
  return static_cast<Exit>(run_script("dashboard", arguments));
}

}  // namespace

AddedCommand add_dashboard(CLI::App& app) {
  auto* command = app.add_subcommand(
      "dashboard", "a folder of runs as one page: verdicts, history, environment, triage");
  const auto options = std::make_shared<DashboardOptions>();
  auto& o = *options;
  command->add_option("tree", o.tree, "the folder: MACHINE/YYYY-MM/*.json")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--html", o.html, "the page")->type_name("FILE")->capture_default_str();
  command
      ->add_option("--base", o.base,
                   "compare the newest runs with this one, instead of the run before each")
      ->type_name("RUN.json");
  command
      ->add_option("--otava", o.otava,
                   "also the history for Apache Otava: CSV files and otava.yaml")
      ->type_name("FOLDER");
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
