#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/comm/endpoint.hpp"
#include "harness/result/result.hpp"

namespace ucxbench::p2p {

/// Which pairs send at the same time.
enum class Concurrent {
  one,       ///< one ordered pair after the other, all others idle
  disjoint,  ///< rounds in which every rank has one partner at most, and one direction after the
             ///< other
  all,       ///< every rank to every other
};
/// Throws Failure(Exit::usage).
Concurrent parse_concurrent(std::string_view name);
std::string_view to_string(Concurrent concurrent);

/// How long a stream lasts at least, if it does not say of how many messages it is; and how many it
/// has then.
inline constexpr double stream_ms = 20;
inline constexpr std::uint64_t least_messages = 16;

struct Parameters {
  std::uint64_t bytes = std::uint64_t{16} << 20U;
  Concurrent concurrent = Concurrent::one;
  std::vector<std::string> memory = {"host", "host"};  ///< sent from, received into
  std::vector<int> devices;  ///< GPUs, rank by rank and round again; empty: all there are
  std::vector<std::string> transports;  ///< members of the set
  std::string net_devices;
  ConnectBy connect_by = ConnectBy::address;
  int ranks = 2;
  int window = 8;                   ///< messages outstanding, per pair
  std::optional<int> iterations{};  ///< messages of a stream; empty: stream_ms, and 16 at least
  int warmup_runs = 1;
  int runs = 3;  ///< measured streams of each pair and launch
};

Json to_json(const Parameters& parameters);
Parameters parse_parameters(const Json& json);

/// "p2p/tag/host-host/shm/16MiB/concurrent=one/ranks=4".
std::string case_key(const Parameters& parameters);

}  // namespace ucxbench::p2p
