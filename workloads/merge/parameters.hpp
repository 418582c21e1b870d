#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "workloads/common/parameters.hpp"
#include "workloads/merge/exchange.hpp"
#include "workloads/merge/generator.hpp"

namespace ucxbench::merge {

struct Parameters {
  WorkloadParameters common;
  std::uint64_t rows = 1'000'000;  ///< of each side, on each rank
  double frac_match = 0.3;
  Generator::Kind generator = Generator::Kind::permuted;
  double skew = 0;
  std::uint32_t payload_columns = 1;
  std::uint32_t batches = 4;      ///< in which a rank's share is exchanged and joined
  bool bulk_synchronous = false;  ///< partition, then exchange, then join, without overlap
  Framing framing = Framing::contiguous;
  Injected injected = Injected::nothing;

  std::uint32_t columns() const { return 1 + payload_columns; }
};

nlohmann::ordered_json to_json(const Parameters& parameters);
Parameters parse_parameters(const nlohmann::ordered_json& json);

/// `whole` for so many ranks: with strong scaling its rows are those of all ranks together, and
/// each gets an equal part, rounded down. Throws Failure(Exit::usage) if there is no row for each.
Parameters for_ranks(const Parameters& whole, int ranks);

/// "merge/tag/host-host/tcp/1M/ranks=4", the size being rows per rank and side.
std::string case_key(const Parameters& parameters);

/// Bytes of both tables on one rank.
std::uint64_t input_bytes(const Parameters& parameters);

/// What a rank of `ranks` allocates for them at most, if the keys are even: the tables, partitioned
/// copies, what the others send, and the result.
std::uint64_t memory_bytes(const Parameters& parameters, int ranks);

}  // namespace ucxbench::merge
