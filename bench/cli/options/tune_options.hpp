#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/launch/environment.hpp"

namespace ucxbench {

struct TuneOptions {
  std::vector<std::string> outputs;
  std::vector<std::string> tried;
  std::string suite;
  std::string max_time = "5min";
  std::string folder;
};

void add_tune_options(CLI::App& command, TuneOptions& o);

/// The words after `tune`: the benchmark and its options, without our own, which go into `o`.
/// Throws Failure(Exit::usage).
std::vector<std::string> benchmark_words(const CLI::App& command, TuneOptions& o);

/// --try: "UCX_RNDV_THRESH=64k", "UCX_TCP_SNDBUF=1m,UCX_TCP_RCVBUF=1m". Throws
/// Failure(Exit::usage).
std::vector<Variables> tried_instead(const std::vector<std::string>& tried);

}  // namespace ucxbench
