#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/outputs.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/comm/transport_set.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// `ucx-bench pingpong`'s options as typed; everything is parsed, and refused, before anything is
/// started.
struct PingPongOptions {
  int ranks = 2;
  int launches = 6;
  std::string timeout = "60s";
  std::string wrap, token_file;
  std::optional<std::string> listen, connect;
  std::string connect_by = "address";
  std::string progress_mode = "poll";
  std::vector<std::string> memory;
  std::string bind = "auto";
  std::string net_devices = "auto";
  std::vector<std::string> transports;
  bool enable_tcp = false, enable_nvlink = false, enable_infiniband = false, enable_rdmacm = false;
  bool strict = false;
  std::vector<std::string> ucx;
  std::string sizes = "8:64MiB:x2";
  std::string api = "tag";
  int window = 32;
  std::string require;
  bool allow_same_gpu = false;
  bool ablate = false;
  bool no_pool = false;
  std::string pool_size;
  std::string devices;
  std::string gdr = "auto";
  std::string measure = "latency,bandwidth";
  bool bidirectional = false;
  int warmup_runs = 1;
  std::uint64_t iterations = 0;
  std::string max_time = "1.5s";
  std::string check = "sample";
  std::vector<std::string> tags;
  Outputs outputs;

  bool remote() const { return listen.has_value() || connect.has_value(); }
};

void add_options(CLI::App& command, PingPongOptions& options);

/// What all cases share, parsed.
struct PingPongPlan {
  std::vector<TransportSet> sets;
  std::vector<std::vector<MemoryKind>> memory;  ///< per pair of kinds: sent from, received into
  std::vector<Api> apis;
  std::vector<ProgressMode> modes;
  std::vector<std::uint64_t> sizes;
  pingpong::Parameters common;
  std::optional<TransportSet> require;
  std::optional<bool> gdr;
};

/// Throws Failure(Exit::usage) for a number of ranks, or a side of a remote run, that cannot be.
void check_ranks(const PingPongOptions& options);

/// Throws Failure(Exit::usage) for what is wrong in itself; devices and CPUs are looked at later.
PingPongPlan parse_plan(const PingPongOptions& options);

}  // namespace ucxbench
