#include <memory>

#include "bench/cli/commands.hpp"
#include "bench/cli/pingpong_options.hpp"
#include "bench/cli/remote.hpp"

namespace ucxbench {

AddedCommand add_pingpong(CLI::App& app) {
  auto* command =
      app.add_subcommand("pingpong", "latency and bandwidth between two ranks, over sizes");
  const auto options = std::make_shared<PingPongOptions>();
  add_options(*command, *options);
  return {command, [o = options](const GlobalOptions& global) {
            check_ranks(*o);
            if (o->connect) {
              return follow_listener(*o->connect, o->token_file,
                                     {o->run.bind, o->run.wrap, o->transports.net_devices});
            }
            return carry_out(parse_plan(*o), o->run, o->transports, global);
          }};
}

}  // namespace ucxbench
