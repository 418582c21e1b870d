#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/options/pingpong_options.hpp"

namespace ucxbench {

AddedCommand add_pingpong(CLI::App& app) {
  auto* command =
      app.add_subcommand("pingpong", "latency and bandwidth between two ranks, over sizes");
  const auto options = std::make_shared<PingPongOptions>();
  add_options(*command, *options);
  auto added = measuring(command, options->run, [options] {
    check_ranks(*options);
    return parse_plan(*options);
  });
  added.run = [o = options, measure = added.run](const GlobalOptions& global) {
    if (!o->connect) return measure(global);
    check_ranks(*o);
    return follow_listener(*o->connect, o->token_file,
                           {o->run.bind, o->run.wrap, o->transports.net_devices});
  };
  return added;
}

}  // namespace ucxbench
