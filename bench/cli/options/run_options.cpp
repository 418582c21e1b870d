#include "bench/cli/options/run_options.hpp"

#include <fmt/format.h>

#include <chrono>

#include "bench/cli/plan/place.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/shell_words.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

void RunOptions::add_ranks(CLI::App& command, const std::string& help) {
  command.add_option("-n,--ranks", ranks, help)
      ->group("ranks")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void RunOptions::add_options(CLI::App& command) {
  command.add_option("--launches", launches, "fresh sets of processes per case")
      ->group("ranks")
      ->check(CLI::Range(1, most_launches))
      ->capture_default_str();
  command.add_option("--timeout", timeout, "longest wait without progress")
      ->group("ranks")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--wrap", wrap, "start each rank under this command; {rank} is replaced")
      ->group("ranks")
      ->type_name("COMMAND");
  command.add_option("--bind", bind, "CPUs of the ranks: auto | none | one CPU per rank, 0,1")
      ->group("place")
      ->type_name("LIST")
      ->capture_default_str();
}

void RunOptions::add_outputs(CLI::App& command) {
  command.add_option("--tag", tags, "a note for the result; repeatable")
      ->group("output")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  outputs.add_options(command);
}

CommandSetup RunOptions::setup(const std::string& benchmark, int local_ranks, int threads) const {
  split_shell_words(wrap);  // refuses an open quote
  CommandSetup setup;
  setup.benchmark = benchmark;
  setup.ranks = ranks;
  setup.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      of_option("--timeout", [&] { return parse_duration(timeout); }));
  setup.wrap = wrap;
  setup.cpus = cpus_of_ranks(bind, local_ranks, threads);
  if (bind == "auto") setup.near_cpus = threads;
  return setup;
}

Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix) {
  Variables values;
  for (const auto& entry : given) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || !entry.starts_with(prefix)) {
      throw Failure(Exit::usage,
                    fmt::format("{} '{}': expected {}KEY=VALUE", option, entry, prefix));
    }
    values[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return values;
}

}  // namespace ucxbench
