#include "bench/cli/options/sides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/options/field_options.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// Of a run at most 1024 ranks.
constexpr int most_hosts = 1024;
constexpr int most_ranks_per_host = 512;

Fields<Sides> fields_of_sides() {
  return {
      number_field(&Sides::hosts,
                   {.name = "hosts",
                    .help = "with --listen: number of hosts, with this one (default: 2)",
                    .group = "ranks",
                    .least = 2,
                    .most = most_hosts}),
      number_field(&Sides::ranks_per_host,
                   {.name = "ranks-per-host",
                    .help = "with --listen: ranks on each host, instead of --ranks",
                    .group = "ranks",
                    .least = 1,
                    .most = most_ranks_per_host}),
  };
}

}  // namespace

const std::vector<Field>& sides_fields() {
  static const auto all = options_alone(fields_of_sides().all);
  return all;
}

int Sides::number_of_hosts() const {
  if (launcher) return launcher->count();
  return listen ? hosts.value_or(2) : 1;
}

void add_sides(CLI::App& command, Sides& o) {
  command.add_option("--listen", o.listen, "wait for the other hosts, or shells")
      ->group("ranks")
      ->type_name("[IP:PORT]")
      ->expected(0, 1)
      ->default_str("127.0.0.1:13337");
  command.add_option("--connect", o.connect, "join the run of a --listen, whose options count")
      ->group("ranks")
      ->type_name("HOST:PORT");
  add_fields(command, {{.fields = &sides_fields(), .object = &o}});
  command
      .add_option("--token-file", o.token_file,
                  "file with the secret that all hosts of a run share")
      ->group("ranks")
      ->type_name("FILE");
}

void check_sides(const Sides& o) {
  if (o.listen && o.connect) {
    throw Failure(Exit::usage, "--listen and --connect: one side listens, the other connects");
  }
  if (o.launcher && (o.hosts || o.connect)) {
    throw Failure(Exit::usage, fmt::format("--hosts and --connect: the launcher has started {} "
                                           "processes, which are the hosts; leave them out",
                                           o.launcher->count()));
  }
  if ((o.hosts || o.ranks_per_host) && o.number_of_hosts() == 1) {
    throw Failure(Exit::usage, fmt::format("--{}: {}", o.hosts ? "hosts" : "ranks-per-host",
                                           o.connect ? "only the first host takes it, with "
                                                       "--listen; leave it out"
                                                     : "it is for several hosts: give --listen "
                                                       "IP:PORT, too"));
  }
}

void check_ranks_of_hosts(const Sides& o, int ranks, bool asked) {
  const auto hosts = o.number_of_hosts();
  const auto each = o.ranks_per_host.value_or(ranks / hosts);
  if (each > 0 && ranks == hosts * each) return;
  const auto given = asked ? fmt::format("--ranks {} on {} hosts", ranks, hosts)
                           : fmt::format("{} ranks on {} hosts", ranks, hosts);
  const std::string fit = asked ? fmt::format("give {}", hosts * std::max(1, each))
                                : "change the number of ranks or of hosts";
  throw Failure(Exit::usage,
                o.ranks_per_host
                    ? fmt::format("{} is not --ranks-per-host {}: give one of the two", given, each)
                    : fmt::format("{}: each host gets the same number of ranks; {}", given, fit));
}

}  // namespace ucxbench
