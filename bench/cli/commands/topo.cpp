#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/imported.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/options.hpp"
#include "bench/cli/options/outputs.hpp"
#include "harness/analysis/limits/machine_limits.hpp"
#include "harness/report/scripts.hpp"
#include "harness/report/topology.hpp"
#include "harness/result/result.hpp"
#include "harness/topology/discover.hpp"

namespace ucxbench {
namespace {

struct TopoOptions {
  std::string file;
  std::string format = "text";
  std::string output = "-";
};

Exit run(const TopoOptions& options) {
  const auto graph = options.file.empty() ? discover() : imported(options.file);
  if (options.format == "svg") {
    return static_cast<Exit>(
        run_script_on(to_text(to_json(graph)), "topology", {"--output", options.output}));
  }
  if (options.format == "json") {
    auto json = to_json(graph);
    json["limits"] = limits_json(graph);
    write_output(options.output, to_text(json));
  } else {
    write_output(options.output, topology_text(graph));
  }
  return Exit::done;
}

}  // namespace

AddedCommand add_topo(CLI::App& app) {
  auto* command = app.add_subcommand("topo", "show how CPUs, GPUs and NICs are connected");
  add_examples(*command, {"topo", "topo --import topo.txt --format svg -o topo.svg"});
  const auto options = std::make_shared<TopoOptions>();
  command
      ->add_option("--import", options->file,
                   "another machine's: what 'nvidia-smi -L; nvidia-smi topo -m', lstopo (XML) or "
                   "NCCL (XML) wrote")
      ->type_name("FILE");
  command->add_option("--format", options->format, "text, json or svg")
      ->check(one_of({"text", "json", "svg"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "a file, or - for stdout")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [options](const GlobalOptions&) { return run(*options); }};
}

}  // namespace ucxbench
