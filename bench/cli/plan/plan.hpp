#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options/run_options.hpp"
#include "harness/comm/transport_set.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Where a case is measured.
struct CasePlace {
  std::vector<std::string> transports;  ///< members of the set
  std::vector<std::string> memory;      ///< sent from, received into
  std::string net_devices;
  int ranks = 2;
};

/// What a measuring command does, parsed: its cases for every transport set and memory.
struct Plan {
  std::string name;    ///< among several plans of one run: "case 2"
  std::string origin;  ///< what its failures begin with: "suite.toml:7: case 2"
  CommandSetup setup;
  std::vector<int> ranks;  ///< each number is measured by itself
  std::vector<TransportSet> sets;
  bool ablate = false;  ///< every set that exists here, instead of `sets`
  std::vector<std::vector<MemoryKind>> memory;
  std::string no_gpu_memory;  ///< why this command cannot use it; empty if it can
  std::vector<int> devices;
  std::uint64_t pool_bytes = 0;
  std::optional<bool> gdr;
  std::string net_devices = "auto";  ///< as --net-devices
  std::optional<TransportSet> require;
  bool allow_same_gpu = false;
  bool sockaddr = false;       ///< endpoints are made through a listener
  std::string crowded_advice;  ///< for more ranks than CPUs
  std::function<std::vector<Case>(const CasePlace&)> cases;
  std::optional<std::string> listen;  ///< where the second rank's machine is waited for
  std::string token_file;
};

}  // namespace ucxbench
