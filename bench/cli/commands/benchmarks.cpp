#include "bench/cli/commands/benchmarks.hpp"

#include "bench/cli/commands/carry_out.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/plan/measuring_plan.hpp"

namespace ucxbench {

std::vector<AddedCommand> add_benchmarks(CLI::App& app) {
  std::vector<AddedCommand> commands;
  for (const auto& command : add_measuring_commands(app)) {
    const auto run = [command](const GlobalOptions& global) {
      auto& o = *command.options;
      const RankPlacement placement{o.run.bind, o.run.wrap, o.transports.net_devices};
      if (const auto exit = follow_if_not_first(o, placement, global)) return *exit;
      return carry_out(plan_of(command), o.run, global);
    };
    commands.push_back(
        {command.app, run, [command] { add_options(*command.app, *command.options); }});
  }
  return commands;
}

}  // namespace ucxbench
