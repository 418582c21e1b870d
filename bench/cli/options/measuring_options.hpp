#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/sides.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench {

/// All that the command of a benchmark was given.
struct MeasuringOptions : Sides {
  explicit MeasuringOptions(const Benchmark& benchmark);

  const Benchmark& of;
  RunOptions run;
  TransportOptions transports;
  MemoryOptions memory;
  Asked asked;  ///< the benchmark's own
  bool ablate = false;
  bool quick = false;
  bool added = false;  ///< whether the command has them

  /// The benchmark's parameters without the values of axes.
  const Place& place() const { return of.parameters.place(asked.parameters.get()); }
  /// Whether it has --ranks.
  bool asks_for_ranks() const {
    const auto* ranks = of.parameters.find("ranks");
    return ranks != nullptr && ranks->asked;
  }
  bool remote() const { return number_of_hosts() > 1 || connect.has_value(); }
};

/// Does nothing the second time.
void add_options(CLI::App& command, MeasuringOptions& options);

/// The command of a benchmark, and what it is given when the program's words are parsed.
struct MeasuringCommand {
  CLI::App* app;
  std::shared_ptr<MeasuringOptions> options;
};

/// One of each benchmark, as the benchmarks describe them. A command gets its options when it is
/// parsed: those of all benchmarks would be a sixth of the time of a start.
std::vector<MeasuringCommand> add_measuring_commands(CLI::App& app);

/// Gives the options of `command` that nobody set the values of --quick, and of a published
/// benchmark (--like NAME), with --scale times its data; --ranks, where there are several hosts,
/// what they have together. Throws Failure(Exit::usage) for an unknown name.
void fill_in(CLI::App& command, const MeasuringOptions& options);

/// For machines: every option of a benchmark's command, as its help has them.
Json options_of(const Benchmark& benchmark);

}  // namespace ucxbench
