#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/parameters.hpp"

namespace ucxbench::moe {

struct Parameters : WorkloadParameters {
  Parameters() { ignore_bytes = 1; }  ///< each pair has one message a way

  std::uint64_t tokens = 4096;  ///< of a rank
  std::uint64_t experts = 64;   ///< of all ranks
  std::uint64_t top_k = 8;      ///< experts of a token
  std::uint64_t token_bytes = 2048;
  std::string routing = "uniform";
};

/// With strong scaling the tokens that were asked for are all ranks'; those that do not divide by
/// their number are left out.
void settle(Parameters& parameters);

/// Bytes of all ranks' tokens.
std::uint64_t input_bytes(const Parameters& parameters);

/// Throws Failure(Exit::usage) where tokens cannot be routed so, or do not fit into the host's
/// memory, if they are to be there.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::moe
