#include "bench/cli/commands/remote.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "bench/cli/plan/place.hpp"
#include "harness/comm/peer_settings.hpp"
#include "harness/core/build_info.hpp"
#include "harness/launch/follower.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/token.hpp"

namespace ucxbench {
namespace {

Identity own_identity() { return {build_info().version, build_info().commit, host_name()}; }

void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

}  // namespace

std::unique_ptr<RemoteSupervisor> wait_for_remote(const std::string& listen,
                                                  const std::string& token_file,
                                                  const std::string& command) {
  const auto endpoint = parse_host_port(listen);
  const auto token = load_or_create_token(token_file);
  Listener listener(endpoint);
  say(fmt::format("waiting 10 min for: ucx-bench {} --connect {}:{}", command, endpoint.host,
                  listener.port()));
  auto remote = listener.accept(own_identity(), token, std::chrono::minutes(10), say);
  say(fmt::format("connected to {}", remote->host()));
  return remote;
}

Exit follow_listener(const std::string& connect, const std::string& token_file,
                     const Placement& placement) {
  refuse_nearest(placement.net_devices);
  // The second of two ranks: when both run on one machine, the first has the first CPU.
  const auto cpus = cpus_of_ranks(placement.bind, 2, 1).back();
  const auto remote = connect_to_listener(parse_host_port(connect), own_identity(),
                                          load_token(token_file), std::chrono::seconds(10));
  Signals signals;
  say(fmt::format("connected to {}", remote->host()));
  const auto route = device_of_connection(remote->fd());
  const auto outcome = follow_launches(
      *remote,
      [&](const nlohmann::json& launch) {
        auto settings = launch.at("settings").get<Variables>();
        const auto ucx = launch.at("ucx").get<Variables>();
        check_peer_settings(settings);
        check_peer_settings(ucx);
        const auto set = TransportSet::parse(launch.at("set").get<std::string>());
        const auto devices = net_devices_of(placement.net_devices, set, route, true);
        if (!devices.empty()) settings["UCX_NET_DEVICES"] = devices;
        return own_rank(settings, ucx, placement.wrap, cpus);
      },
      signals);
  if (!outcome.reason.empty()) say(fmt::format("ucx-bench: {}", outcome.reason));
  return outcome.exit;
}

}  // namespace ucxbench
