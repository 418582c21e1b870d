#include "workloads/svd/parameters.hpp"

#include <fmt/format.h>

#include "harness/core/failure.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::svd {

void settle(Parameters& p) {
  settle_workload(p);
  if (p.scaling == Scaling::strong) p.rows /= static_cast<std::uint64_t>(p.ranks);
}

std::uint64_t input_bytes(const Parameters& p) {
  return p.rows * p.columns * sizeof(double) * static_cast<std::uint64_t>(p.ranks);
}

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  if (p.rows < p.columns) {
    throw Failure(Exit::usage,
                  fmt::format("--rows: {} in a rank are fewer than {} columns; ask for more rows, "
                              "or fewer columns",
                              p.rows, p.columns));
  }
  constexpr std::uint64_t most_rows = 2'000'000'000;
  if (p.rows > most_rows) {
    throw Failure(Exit::usage, fmt::format("--rows: {} in a rank; LAPACK's integers allow {}",
                                           p.rows, most_rows));
  }
  // The block and its left singular vectors.
  const auto bytes_of_row = 2 * p.columns * sizeof(double);
  const auto most = local.memory_bytes / static_cast<std::uint64_t>(local.ranks) / bytes_of_row;
  if (p.rows <= most) return;
  throw Failure(Exit::usage,
                fmt::format("--rows: {} of {} columns in each of {} ranks are more than the "
                            "available memory; about {} fit",
                            p.rows, p.columns, local.ranks, most * 95 / 100));
}

}  // namespace ucxbench::svd
