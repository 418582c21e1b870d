#pragma once

#include <cstdint>

#include "workloads/common/parameters.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

/// What becomes of y.
enum class Outcome { keep, sum };

struct Parameters : WorkloadParameters {
  std::uint64_t size = 10'000;
  std::uint64_t chunk_size = 2'500;
  Outcome outcome = Outcome::keep;
  bool bulk_synchronous = false;  ///< exchange, then add, without overlap

  bool keep() const { return outcome == Outcome::keep; }
  Layout layout() const { return {size, chunk_size, static_cast<std::uint64_t>(ranks)}; }
};

/// With weak scaling the size that was asked for is one rank's, and grows with the square root of
/// their number, so that each has as many elements.
void settle(Parameters& parameters);

/// Bytes of the whole array.
std::uint64_t input_bytes(const Parameters& parameters);

/// Throws Failure(Exit::usage) for chunks that do not fit the array, and for an array that does not
/// fit into the host's memory, if it is to be there, with the size that does.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::transpose
