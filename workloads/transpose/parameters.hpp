#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "workloads/common/injected.hpp"
#include "workloads/common/parameters.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// What becomes of y.
enum class Outcome { keep, sum };
Outcome parse_outcome(std::string_view name);  ///< of --result; throws Failure(Exit::usage)

struct Parameters {
  WorkloadParameters common;
  std::uint64_t size = 10'000;
  std::uint64_t chunk_size = 2'500;
  Outcome outcome = Outcome::keep;
  bool bulk_synchronous = false;  ///< exchange, then add, without overlap
  Injected injected = Injected::nothing;

  bool keep() const { return outcome == Outcome::keep; }
  Layout layout() const { return {size, chunk_size, static_cast<std::uint64_t>(common.ranks)}; }
};

nlohmann::ordered_json to_json(const Parameters& parameters);
Parameters parse_parameters(const nlohmann::ordered_json& json);

/// `one` for so many ranks: with weak scaling its size is one rank's, and grows with the square
/// root of their number, so that each has as many elements.
Parameters for_ranks(const Parameters& one, int ranks);

/// "transpose/tag/host-host/tcp/10K/ranks=4", the size being rows of the array.
std::string case_key(const Parameters& parameters);

/// Bytes of the whole array.
std::uint64_t input_bytes(const Parameters& parameters);

/// Throws Failure(Exit::usage) for chunks that do not fit the array, and for an array that does not
/// fit into `available_bytes`, with the size that does.
void check(const Parameters& parameters, std::uint64_t available_bytes);

}  // namespace ucxbench::transpose
