#pragma once

#include <cstdint>

#include "workloads/common/parameters.hpp"
#include "workloads/merge/generator.hpp"

namespace ucxbench::merge {

struct Parameters : WorkloadParameters {
  std::uint64_t rows = 1'000'000;  ///< of each side, on each rank
  double frac_match = 0.3;
  Generator::Kind generator = Generator::Kind::permuted;
  double skew = 0;
  std::uint32_t payload_columns = 1;
  std::uint32_t batches = 4;      ///< in which a rank's share is exchanged and joined
  bool bulk_synchronous = false;  ///< partition, then exchange, then join, without overlap
  bool frames = false;            ///< a header and each column by itself, as Framing::frames

  std::uint32_t columns() const { return 1 + payload_columns; }
};

/// With strong scaling, rows that were asked for are those of all ranks together: each gets an
/// equal part, rounded down. Throws Failure(Exit::usage) if there is no row for each.
void settle(Parameters& parameters);

/// Throws Failure(Exit::usage) for what dask's generator, the host's memory or a GPU cannot do.
void check(const Parameters& parameters, const Local& local);

/// Bytes of both tables on one rank.
std::uint64_t input_bytes(const Parameters& parameters);

/// What a rank allocates for them at most, if the keys are even: the tables, partitioned copies,
/// the rows' bucket numbers, what the others send, and the result.
std::uint64_t memory_bytes(const Parameters& parameters);

}  // namespace ucxbench::merge
