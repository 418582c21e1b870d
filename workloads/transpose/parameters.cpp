#include "workloads/transpose/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/core/failure.hpp"
#include "harness/run/description.hpp"
#include "workloads/transpose/generator.hpp"

namespace ucxbench::transpose {
namespace {

// What is kept of each tile for the checks is then at most 48 MiB.
constexpr std::uint64_t most_chunks = 1024;

// The largest array with these chunks for which `fits`; 0: none.
template <typename Fits>
std::uint64_t largest(Fits fits) {
  std::uint64_t good = 0;
  for (auto step = most_rows; step > 0; step /= 2) {
    if (good + step <= most_rows && fits(good + step)) good += step;
  }
  return good;
}

}  // namespace

void settle(Parameters& p) {
  settle_workload(p);
  if (p.scaling != Scaling::weak) return;
  p.size =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(p.size) * std::sqrt(p.ranks)));
}

std::uint64_t input_bytes(const Parameters& p) { return p.size * p.size * sizeof(double); }

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  const auto available_bytes =
      on_host(p.kind()) ? local.memory_bytes : std::numeric_limits<std::uint64_t>::max();
  if (p.chunk_size > p.size) {
    throw Failure(Exit::usage, fmt::format("--chunk-size: {} is more than the array's size, {}",
                                           p.chunk_size, p.size));
  }
  const auto least_chunk = (std::min(p.size, most_rows) + most_chunks - 1) / most_chunks;
  if (p.chunk_size < least_chunk) {
    throw Failure(Exit::usage,
                  fmt::format("--chunk-size: {} cuts {} rows into more than {} chunks; at least {}",
                              p.chunk_size, p.size, most_chunks, least_chunk));
  }
  const auto fits = [&](std::uint64_t size) {
    auto layout = p.layout();
    layout.size = size;
    layout.chunk = std::min(size, p.chunk_size);
    return bytes_needed(layout, p.keep(), p.bulk_synchronous) <= available_bytes;
  };
  if (p.size <= most_rows && fits(p.size)) return;
  throw Failure(Exit::usage, fmt::format("--size: an array of {} rows is more than the available "
                                         "memory; at most {} with these chunks",
                                         p.size, largest(fits)));
}

}  // namespace ucxbench::transpose
