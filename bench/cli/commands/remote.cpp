#include "bench/cli/commands/remote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "bench/cli/plan/orders.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/print.hpp"
#include "harness/host/copies.hpp"
#include "harness/launch/follower.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/launch/listener.hpp"
#include "harness/launch/open_files.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/token.hpp"
#include "harness/result/words.hpp"
#include "harness/run/host_speed.hpp"
#include "harness/run/provenance.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

// Far more than measuring takes.
constexpr std::chrono::seconds answer_limit{5};

constexpr const char* about_processors = "processors";

Identity own_identity() { return {build_info().version, build_info().commit, host_name()}; }

void say(const std::string& line) { print_to(stderr, "{}\n", line); }

/// What a host tells the listener of itself.
Json own_hello() {
  auto facts = describe_host();
  if (auto launcher = describe_launcher(); !launcher.is_null()) facts["launcher"] = launcher;
  return {{"boot_id", boot_id()}, {"cpus", allowed_cpus()}, {"facts", std::move(facts)}};
}

/// The same with what can run here, which the listener does not know.
Json hello_to_listener() {
  auto hello = own_hello();
  hello["found"] = probe({.cuda = true, .topology = true});
  return hello;
}

/// Of hosts by what they have told.
std::vector<Seat> seats_of(const std::vector<Json>& hellos) {
  const auto of_one_boot = [](const Json& a, const Json& b) {
    return a.value("boot_id", "") == b.value("boot_id", "");
  };
  const auto together = [&](const Json& a, const Json& b) {
    return of_one_boot(a, b) && a.value("cpus", Json()) == b.value("cpus", Json());
  };
  std::vector<Seat> seats;
  for (std::size_t host = 0; host < hellos.size(); ++host) {
    Seat seat{.of = 0, .cpus = static_cast<int>(hellos[host].value("cpus", Json::array()).size())};
    for (std::size_t other = 0; other < hellos.size(); ++other) {
      if (other == host) seat.index = seat.of;
      seat.before += other < host && of_one_boot(hellos[host], hellos[other]) ? 1 : 0;
      seat.of += together(hellos[host], hellos[other]) ? 1 : 0;
    }
    seats.push_back(seat);
  }
  return seats;
}

/// The other processes of a launcher, in its order.
RemoteSupervisors wait_for_launched(const Plan& plan) {
  auto meeting = plan.launcher->place(plan.listen.value_or(""), plan.token_file);
  Listener listener(meeting.at);
  meeting.at.port = std::to_string(listener.port());
  plan.launcher->tell(meeting);
  auto others = listener.gather(plan.hosts - 1, own_identity(), meeting.token, launcher_limit,
                                [](const std::string&) {});
  const auto index = [](const auto& other) { return other->hello().value("index", 0); };
  std::ranges::sort(others, {}, index);
  return others;
}

/// The name of a host that is wired alike, down to the names; or the wiring.
Json topology_of_host(const Json& topology, const Result& result) {
  const auto& hosts = result.machine.at("hosts");
  // On its way its members have come into another order.
  const nlohmann::json sorted = topology;
  if (sorted == nlohmann::json(result.topology)) return hosts.front().at("name");
  for (const auto& host : hosts) {
    if (sorted.is_object() && sorted == nlohmann::json(host.value("topology", Json()))) {
      return host.at("name");
    }
  }
  return topology;
}

Json ucx_of_host(const UcxResources& ucx) {
  Json found = {{"version", ucx.version},
                {"library", ucx.library},
                {"components", ucx.components},
                {"resources", Json::array()}};
  for (const auto& resource : ucx.resources) found["resources"].push_back(in_words(resource));
  return found;
}

// One that has several supervisors stands there once, with what each of them was given.
void add_host(const std::string& name, Json facts, const Probe& found, Result& result) {
  auto& hosts = result.machine.at("hosts");
  const auto is_there = [&](const Json& host) { return text_at(host, "/name") == name; };
  if (!facts.is_object()) return;
  if (const auto known = std::ranges::find_if(hosts, is_there); known != hosts.end()) {
    if (!facts.contains("launcher") || !known->contains("launcher")) return;
    auto& processes = known->at("launcher").at("processes");
    for (const auto& process : facts.at("launcher").at("processes")) processes.push_back(process);
    return;
  }
  facts["name"] = name;
  auto& labels = result.machine.at("labels");
  for (const auto& label : labels_of_host(facts)) {
    const auto same = [&](const Json& known) { return known == label; };
    if (std::ranges::none_of(labels, same)) labels.push_back(label);
  }
  facts["topology"] = topology_of_host(found.topology, result);
  facts["ucx"] = ucx_of_host(found.ucx);
  hosts.push_back(std::move(facts));
}

std::vector<RankCommand> commands_for(const Json& told, int ranks, const RankPlacement& placement,
                                      const std::string& route) {
  auto orders = orders_from_json(told);
  check_ranks_told(ranks);
  const auto devices = net_devices_of(placement.net_devices, orders.set, route, true);
  if (!devices.empty()) orders.settings["UCX_NET_DEVICES"] = devices;
  allow_open_files(ranks, orders.peers);
  std::vector<RankCommand> commands;
  for (const auto& cpus : cpus_of_seat(placement.bind, ranks, orders.busy_threads, orders.seat)) {
    commands.push_back(own_rank(orders.settings, orders.ucx, placement.wrap, cpus));
    commands.back().on_machine = orders.first_on_machine + static_cast<int>(commands.size()) - 1;
  }
  return commands;
}

/// What this host gives to ranks that would be started so.
Json measured_for(const Json& question, const RankPlacement& placement, const std::string& route) {
  const auto ranks =
      commands_for(question.at("told"), question.at("ranks").get<int>(), placement, route);
  return question.at("what") == about_processors ? processors_to_answer(processors_of(ranks))
                                                 : measure_copies(cpus_for_copies(ranks));
}

LaunchOutcome follow(RemoteSupervisor& remote, Signals& signals, const RankPlacement& placement) {
  const auto route = device_of_connection(remote.fd());
  return follow_launches(
      remote,
      [&](const Json& told, int ranks) { return commands_for(told, ranks, placement, route); },
      [&](const Json& question) { return measured_for(question, placement, route); }, signals);
}

Exit follow_listener(const std::string& connect, const std::string& token_file,
                     const RankPlacement& placement) {
  refuse_nearest(placement.net_devices);
  const auto remote =
      connect_to_listener(parse_host_port(connect), own_identity(), load_token(token_file),
                          std::chrono::seconds(10), hello_to_listener());
  say(fmt::format("connected to {}", remote->host()));
  Signals signals;
  const auto outcome = follow(*remote, signals, placement);
  if (!outcome.reason.empty()) {
    say(fmt::format("ucx-bench: {}", outcome.reason));
  } else if (outcome.exit != Exit::done) {
    say(fmt::format("ucx-bench: {} ended with status {}; it says why on its own stderr",
                    remote->host(), static_cast<int>(outcome.exit)));
  }
  return outcome.exit;
}

Exit follow_first(Launcher& launcher, const std::string& listen, const std::string& token_file,
                  const RankPlacement& placement) {
  refuse_nearest(placement.net_devices);
  const auto meeting = launcher.hear(listen, token_file);
  auto hello = hello_to_listener();
  hello["index"] = launcher.index();
  const auto remote =
      connect_to_listener(meeting.at, own_identity(), meeting.token, launcher_limit, hello);
  Signals signals;
  signals.end_with_parent();
  const auto outcome = follow(*remote, signals, placement);
  // The first process says why to all that look at the launcher's output.
  if (remote->ended() && !outcome.said_there) {
    say(fmt::format("ucx-bench: {}: {}", host_name(), outcome.reason));
  }
  return outcome.exit;
}

}  // namespace

RemoteSupervisors wait_for_others(const Plan& plan, const std::string& command) {
  if (plan.launcher) return wait_for_launched(plan);
  const auto endpoint = parse_host_port(*plan.listen);
  const auto token = load_or_create_token(plan.token_file);
  Listener listener(endpoint);
  const auto others = plan.hosts - 1;
  say(fmt::format("waiting 10 min for{}: ucx-bench {} --connect {}",
                  others == 1 ? "" : fmt::format(" {} hosts, on each", others), command,
                  in_words(HostPort{endpoint.host, std::to_string(listener.port())})));
  return listener.gather(others, own_identity(), token, std::chrono::minutes(10), say);
}

HostNames take_in(const RemoteSupervisors& others, Machine& machine, Result& result) {
  HostNames names;
  std::vector<Json> hellos = {own_hello()};
  auto& first_host = result.machine.at("hosts").at(0);
  if (const auto& facts = hellos.front().at("facts"); facts.contains("launcher")) {
    first_host["launcher"] = facts.at("launcher");
  }
  std::vector<std::string> routes;
  for (const auto& other : others) {
    const auto& hello = other->hello();
    hellos.push_back(hello);
    other->call(names.told_apart(other->host(), hello.value("boot_id", "")));
    try {
      machine.others.push_back({other->host(), hello.at("found").get<Probe>()});
      add_host(other->host(), hello.value("facts", Json()), machine.others.back().found, result);
      machine.several_machines |= hello.at("boot_id") != hellos.front().at("boot_id");
    } catch (const Json::exception& error) {
      throw Failure(Exit::lost,
                    fmt::format("{} sent a malformed message ({})", other->host(), error.what()));
    }
    auto route = device_of_connection(other->fd());
    if (std::ranges::find(routes, route) == routes.end()) routes.push_back(std::move(route));
  }
  // Where one way is not known, UCX may take any.
  const bool all = std::ranges::find(routes, "all") != routes.end();
  machine.remote_route = all ? "all" : fmt::format("{}", fmt::join(routes, ","));
  machine.seats = seats_of(hellos);
  machine.hosts = static_cast<int>(result.machine.at("hosts").size());
  return names;
}

Elsewhere elsewhere(const RemoteSupervisors& others, const Machine& machine) {
  // What shares a machine shares its memory.
  std::vector<std::size_t> asked;
  for (std::size_t at = 0; at < others.size(); ++at) {
    if (machine.seats.at(at + 1).before == 0) asked.push_back(at);
  }
  const auto begin = [&others, asked](const LaunchPlan& plan, Elsewhere::What what) {
    const auto* about = what == Elsewhere::What::processors ? about_processors : "memory_copy";
    for (const auto at : asked) {
      try {
        others[at]->ask({{"what", about},
                         {"told", plan.launch.told.at(at)},
                         {"ranks", plan.launch.ranks.size()}});
      } catch (const Failure&) {
        continue;  // the next launch finds the same
      }
    }
  };
  const auto end = [&others, asked] {
    const auto deadline = RemoteSupervisor::Clock::now() + answer_limit;
    std::map<std::string, Json> answers;
    for (const auto at : asked) {
      try {
        if (const auto answer = others[at]->answer(deadline)) {
          answers[others[at]->host()] = *answer;
        }
      } catch (const Failure&) {
        continue;
      }
    }
    return answers;
  };
  return {begin, end};
}

std::optional<Exit> follow_if_not_first(Sides& sides, const RankPlacement& placement,
                                        const GlobalOptions& global) {
  sides.launcher = find_launcher();
  check_sides(sides);
  if (sides.launcher && sides.launcher->index() > 0) {
    if (global.dry_run) return Exit::done;
    return follow_first(*sides.launcher, sides.listen.value_or(""), sides.token_file, placement);
  }
  if (!sides.connect) return std::nullopt;
  return follow_listener(*sides.connect, sides.token_file, placement);
}

}  // namespace ucxbench
