#include "bench/cli/options/sides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/options/options.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// Of a run at most 1024 ranks.
constexpr int most_hosts = 1024;
constexpr int most_ranks_per_host = 512;

}  // namespace

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
  command
      .add_option("--hosts", o.hosts, "with --listen: number of hosts, with this one (default: 2)")
      ->group("ranks")
      ->type_name("N")
      ->check(in_range(2, most_hosts));
  command
      .add_option("--ranks-per-host", o.ranks_per_host,
                  "with --listen: ranks on each host, instead of --ranks")
      ->group("ranks")
      ->type_name("N")
      ->check(in_range(1, most_ranks_per_host));
  command
      .add_option("--token-file", o.token_file,
                  "file with the secret that --listen and --connect share")
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
