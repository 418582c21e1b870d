#include <fmt/format.h>

#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/imported.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "harness/core/names.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/report/advice.hpp"

namespace ucxbench {
namespace {

struct AdviseOptions {
  std::string run, topology;
  std::string format = "text";
  int pick = 0;
  std::string bandwidths;
  std::string output = "-";
};

void check_together(const AdviseOptions& o) {
  if (o.run.empty() && o.topology.empty()) {
    throw Failure(Exit::usage, "advise: expected RUN.json, or --topology FILE, or both");
  }
  if (o.bandwidths.empty()) return;
  if (o.run.empty()) throw Failure(Exit::usage, "--bandwidths: only a RUN.json has measured any");
  if (o.pick > 0) throw Failure(Exit::usage, "--bandwidths and --pick: one of the two");
}

Exit run(const AdviseOptions& o, bool pick_given) {
  const auto format = parse_name(advice_formats, o.format, "--format: ", "format");
  check_together(o);
  check_outputs({{"output", o.output}, {"bandwidths", o.bandwidths}}, {o.run, o.topology});
  std::optional<Graph> topology;
  if (!o.topology.empty()) topology = imported(o.topology);
  std::optional<Result> recorded;
  if (!o.run.empty()) recorded = read_result(o.run);

  std::optional<Pick> pick;
  Advice advice;
  if (pick_given) {
    // Its ranks are not the run's, so that of a run there is only the topology.
    const auto graph = topology ? *topology : topology_of(*recorded);
    if (o.pick < 0)
      throw Failure(Exit::usage, fmt::format("--pick {}: expected 2 or more", o.pick));
    pick = pick_gpus(graph, static_cast<std::size_t>(o.pick));
    advice = advise(graph, pick->best.gpus);
  } else {
    advice = recorded ? advise(*recorded, topology) : advise(*topology);
  }
  if (!o.bandwidths.empty())
    write_output(o.bandwidths, to_text(bandwidths_of(*recorded, advice)) + "\n");
  const auto [text, beside] = rendered(format, advice, pick, o.bandwidths);
  write_output(o.output, text);
  for (const auto& line : beside) print_to(stderr, "{}\n", on_one_line(line));
  return Exit::done;
}

}  // namespace

AddedCommand add_advise(CLI::App& app) {
  auto* command =
      app.add_subcommand("advise", "settings for UCX, CPUs, NICs and GPUs, from a run's findings");
  add_examples(*command, {"advise run.json", "advise --topology topo.txt --pick 4"});
  const auto options = std::make_shared<AdviseOptions>();
  auto& o = *options;
  command->add_option("run", o.run, "a recorded run")->type_name("RUN.json");
  command
      ->add_option("--topology", o.topology,
                   "a topology, as topo --import takes it: without a run, or for the run's own")
      ->type_name("FILE");
  command->add_option("--format", o.format, help_on(advice_formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  auto* pick = command->add_option("--pick", o.pick,
                                   "the best K GPUs and their order, by the rate at which each can "
                                   "send to all others");
  command
      ->add_option("--bandwidths", o.bandwidths,
                   "the measured rates by source, destination, memory and size, as JSON")
      ->type_name("FILE");
  command->add_option("-o,--output", o.output, "a file, or - for stdout")
      ->type_name("FILE")
      ->capture_default_str();
  return {command,
          [options, pick](const GlobalOptions&) { return run(*options, pick->count() > 0); }};
}

}  // namespace ucxbench
