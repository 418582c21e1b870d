#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench::cold {

/// Where the memory of a case's messages comes from, on both sides.
enum class Buffers {
  pool,   ///< cut from one allocation
  own,    ///< an allocation of its own, touched, for all messages
  fresh,  ///< a new allocation for each message, of which the receiver has touched nothing
};
Buffers parse_buffers(std::string_view name);
std::string_view to_string(Buffers buffers);

/// One case: what its key and its ranks need to know. Rank 0 sends to each of ranks 1 to `peers`.
struct Parameters {
  std::uint64_t bytes = 8;
  int peers = 1;
  Buffers buffers = Buffers::pool;
  std::vector<std::string> memory = {"host", "host"};  ///< sent from, received into
  std::uint64_t pool_bytes = 0;  ///< of GPU memory's pool; 0: two buffers of the largest size
  std::vector<int> devices;      ///< GPUs, rank by rank and round again; empty: all there are
  std::vector<std::string> transports;  ///< members of the set
  std::string net_devices;
  int ranks = 2;
  int iterations = 10;  ///< messages of the steady state, and fresh allocations, per peer
};

Json to_json(const Parameters& parameters);
Parameters parse_parameters(const Json& json);

/// "cold/tag/host-host/tcp+shm/1MiB/peers=2/buffers=pool".
std::string case_key(const Parameters& parameters);

}  // namespace ucxbench::cold
