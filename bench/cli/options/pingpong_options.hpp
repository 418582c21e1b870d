#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "bench/cli/plan/plan.hpp"

namespace ucxbench {

/// `ucx-bench pingpong`'s options as typed; everything is parsed, and refused, before anything is
/// started.
struct PingPongOptions {
  RunOptions run;
  TransportOptions transports;
  MemoryOptions memory;
  std::optional<std::string> listen, connect;
  std::string token_file;
  std::string connect_by = "address";
  bool enable_rdmacm = false;
  std::string progress_mode = "poll";
  bool ablate = false;
  std::string sizes = "8:64MiB:x2";
  std::string api = "tag";
  int window = 32;
  std::string measure = "latency,bandwidth";
  bool bidirectional = false;
  int warmup_runs = 1;
  std::uint64_t iterations = 0;
  std::string max_time = "1.5s";
  std::string check = "sample";

  bool remote() const { return listen.has_value() || connect.has_value(); }
};

void add_options(CLI::App& command, PingPongOptions& options);

/// Throws Failure(Exit::usage) for a number of ranks, or a side of a remote run, that cannot be.
void check_ranks(const PingPongOptions& options);

/// Throws Failure(Exit::usage) for what is wrong in itself; devices are looked at later.
Plan parse_plan(const PingPongOptions& options);

}  // namespace ucxbench
