#pragma once

#include <cstdint>
#include <string_view>

#include "harness/run/place.hpp"

namespace ucxbench::cold {

/// Where the memory of a case's messages comes from, on both sides.
enum class Buffers {
  pool,   ///< cut from one allocation
  own,    ///< an allocation of its own, touched, for all messages
  fresh,  ///< a new allocation for each message, of which the receiver has touched nothing
};
std::string_view to_string(Buffers buffers);

/// One case. Rank 0 sends to each of ranks 1 to `peers`.
struct Parameters : Place {
  std::uint64_t bytes = 8;
  int peers = 1;
  Buffers buffers = Buffers::pool;
  int iterations = 10;  ///< messages of the steady state, and fresh allocations, per peer
};

}  // namespace ucxbench::cold
