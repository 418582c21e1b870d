#include "workloads/halo/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/core/failure.hpp"
#include "harness/run/description.hpp"
#include "workloads/halo/formula.hpp"

namespace ucxbench::halo {
namespace {

// The tile of this step and of the next one, the waves, and the columns on their way.
std::uint64_t bytes_of_rank(std::uint64_t size) {
  return (2 * Tile{size}.elements() + Waves::count(size) + 4 * size) * sizeof(double);
}

}  // namespace

void settle(Parameters& p) {
  settle_workload(p);
  if (p.scaling != Scaling::strong) return;
  p.size =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(p.size) / std::sqrt(p.ranks)));
}

std::uint64_t input_bytes(const Parameters& p) {
  return p.steps * p.size * p.size * sizeof(double) * static_cast<std::uint64_t>(p.ranks);
}

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  if (p.size == 0) {
    throw Failure(Exit::usage, "--size: strong scaling leaves a rank nothing; ask for more");
  }
  if (!on_host(p.kind())) return;
  const auto available = local.memory_bytes / static_cast<std::uint64_t>(local.ranks);
  const auto most =
      static_cast<std::uint64_t>(std::sqrt(static_cast<double>(available) / (2 * sizeof(double))));
  if (p.size <= most && bytes_of_rank(p.size) <= available) return;
  throw Failure(
      Exit::usage,
      fmt::format("--size: tiles of {} rows and columns in each of {} ranks are more than "
                  "the available memory; about {} fit",
                  p.size, local.ranks, most * 99 / 100));
}

}  // namespace ucxbench::halo
