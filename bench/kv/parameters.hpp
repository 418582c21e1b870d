#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/kv/layout.hpp"
#include "harness/run/description.hpp"
#include "harness/run/place.hpp"

namespace ucxbench::kv {

/// The context without --tokens.
inline constexpr std::uint64_t usual_tokens = 512;

/// The most descriptors of a decode rank.
inline constexpr std::uint64_t most_descriptors = 10'000'000;

struct Parameters : Place {
  Api op = Api::get;  ///< decode ranks get, or prefill ranks put
  std::string model = "llama3-8b";
  std::uint64_t tokens = 0;  ///< of the context; 0: descriptors and bytes are given
  std::uint64_t block_tokens = 16;
  std::uint64_t descriptors = 0;  ///< of a decode rank in a round; 0: from model and tokens
  std::uint64_t bytes = 0;        ///< of a descriptor; 0: from the model
  int prefill = 1, decode = 1;    ///< ranks of each side; prefill comes first
  std::optional<int> window{};    ///< outstanding operations of each rank; empty: all
  int sessions = 5;
  int rounds = 4;  ///< of each session, after its first
};

/// Fills in descriptors and bytes where they follow from model and tokens.
void settle(Parameters& parameters);

/// Throws Failure(Exit::usage) if the ranks cannot divide the heads, or memory is too small.
void check_case(const Parameters& parameters, const Local& local);

/// After settle().
Layout layout_of(const Parameters& parameters);

}  // namespace ucxbench::kv
