#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/kv/layout.hpp"
#include "harness/run/description.hpp"
#include "harness/run/place.hpp"

namespace ucxbench::kv {

/// Of a context whose length is not said.
inline constexpr std::uint64_t usual_tokens = 512;

/// The most descriptors of a decode rank.
inline constexpr std::uint64_t most_descriptors = 10'000'000;

struct Parameters : Place {
  Api op = Api::get;  ///< decode ranks get, or prefill ranks put
  std::string model = "llama3-8b";
  std::uint64_t tokens = 0;  ///< of the context; 0: descriptors and bytes say all
  std::uint64_t block_tokens = 16;
  std::uint64_t descriptors = 0;  ///< of a decode rank in a round; 0: as the model and tokens say
  std::uint64_t bytes = 0;        ///< of a descriptor; 0: likewise
  int prefill = 1, decode = 1;    ///< ranks of each; those of prefill come first
  std::optional<int> window{};    ///< operations outstanding, of each rank; empty: all
  int sessions = 5;
  int rounds = 4;  ///< of each session, after its first
};

/// Descriptors and bytes, where they follow from model and tokens.
void settle(Parameters& parameters);

/// Throws Failure(Exit::usage) where the heads cannot be divided so, or memory does not suffice.
void check_case(const Parameters& parameters, const Local& local);

/// After settle().
Layout layout_of(const Parameters& parameters);

}  // namespace ucxbench::kv
