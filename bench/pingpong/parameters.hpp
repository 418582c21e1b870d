#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/endpoint.hpp"
#include "harness/comm/worker.hpp"

namespace ucxbench::pingpong {

using Json = nlohmann::ordered_json;

/// How much of the payload is compared byte by byte, outside the clock.
enum class Check { off, sample, full };
Check parse_check(std::string_view name);
std::string_view to_string(Check check);

/// One case: what its key and its two ranks need to know.
struct Parameters {
  Api api = Api::tag;
  std::uint64_t bytes = 8;
  int window = 32;
  bool latency = true;
  /// After a latency loop it is the bandwidth of a connection with a history, which a TCP socket
  /// does not forget (docs/METHOD.md); alone, what ucx_perftest's bandwidth tests see.
  bool bandwidth = true;
  bool bidirectional = false;
  std::vector<std::string> memory = {"host", "host"};  ///< sent from, received into
  bool pool = true;              ///< buffers of a kind share one allocation; else each has its own
  std::uint64_t pool_bytes = 0;  ///< of each GPU memory kind's pool; 0: what the buffers need
  std::vector<int> devices;      ///< GPUs, rank by rank and round again; empty: all there are
  std::vector<std::string> transports;  ///< members of the set
  ProgressMode progress;
  ConnectBy connect_by = ConnectBy::address;
  std::string net_devices;
  int ranks = 2;
  int warmup_runs = 1;
  std::optional<std::uint64_t> iterations;                ///< fixed; else from the time
  std::chrono::nanoseconds time_per_launch{250'000'000};  ///< measuring time in one launch
  Check check = Check::sample;
};

/// Sets what --measure names: "latency", "bandwidth" or both. Throws Failure (usage).
void set_measured(Parameters& parameters, std::string_view list);

Json to_json(const Parameters& parameters);
Parameters parse_parameters(const Json& json);

/// "pingpong/tag/host-host/tcp+shm/1MiB", then parameters that differ from the default, sorted, as
/// "/name=value".
std::string case_key(const Parameters& parameters);

}  // namespace ucxbench::pingpong
