#include "workloads/merge/parameters.hpp"

#include <fmt/format.h>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/run/description.hpp"
#include "workloads/merge/cuda_arguments.hpp"

namespace ucxbench::merge {
namespace {

void check_dask(const Parameters& p) {
  if (p.skew > 0) {
    throw Failure(Exit::usage, "--skew: dask's generator knows none; leave one out");
  }
  if (p.rows >= static_cast<std::uint64_t>(p.ranks)) return;
  throw Failure(Exit::usage, fmt::format("--rows: dask's generator needs at least {} rows on each "
                                         "of {} ranks, not {}",
                                         p.ranks, p.ranks, p.rows));
}

void check_host_memory(const Parameters& p, const Local& local) {
  const auto ranks = static_cast<std::uint64_t>(p.ranks);
  const auto fits = local.memory_bytes / ranks;
  const auto needed = memory_bytes(p);
  if (needed <= fits) return;
  const auto part = static_cast<double>(fits) / static_cast<double>(needed);
  const auto strong = p.scaling == Scaling::strong ? ranks : 1;
  const auto most = static_cast<std::uint64_t>(static_cast<double>(p.rows * strong) * part);
  throw Failure(Exit::usage,
                fmt::format("--rows: {} rows in each of {} ranks take {} of memory; at most "
                            "--rows {} fit{}",
                            exact_count(p.rows), ranks, rough_size(needed * ranks), most,
                            p.like.empty() ? ""
                                           : fmt::format(", that is --scale {:.2g}",
                                                         p.scale.value_or(1) * part * 0.99)));
}

// A batch of a rank has at least one.
void check_buckets(const Parameters& p) {
  const auto buckets = p.batches * static_cast<std::uint32_t>(p.ranks);
  if (buckets <= most_cuda_buckets) return;
  throw Failure(Exit::usage,
                fmt::format("--batches {}: with {} ranks that is {} buckets, but a GPU partitions "
                            "into {} at most; lower one of the two",
                            p.batches, p.ranks, buckets, most_cuda_buckets));
}

}  // namespace

void settle(Parameters& p) {
  settle_workload(p);
  if (p.scaling != Scaling::strong) return;
  const auto whole = p.rows;
  p.rows /= static_cast<std::uint64_t>(p.ranks);
  if (p.rows != 0) return;
  throw Failure(Exit::usage,
                fmt::format("--rows: strong scaling divides {} rows among {} ranks; at "
                            "least {} are needed",
                            whole, p.ranks, p.ranks));
}

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  if (p.generator == Generator::Kind::dask) check_dask(p);
  if (on_host(p.kind())) check_host_memory(p, local);
  if (on_gpu(p.kind())) check_buckets(p);
}

std::uint64_t input_bytes(const Parameters& p) {
  return 2 * p.rows * p.columns() * sizeof(std::uint64_t);
}

std::uint64_t memory_bytes(const Parameters& p) {
  const auto input = static_cast<double>(input_bytes(p));
  const auto others = 1 - 1.0 / p.ranks;
  const auto result = static_cast<double>(p.rows) * p.frac_match * (2 * p.columns() - 1) * 8;
  const auto bucket_numbers = static_cast<double>(p.rows) * sizeof(std::uint32_t);
  return static_cast<std::uint64_t>(input * (2 + others) + result + bucket_numbers);
}

}  // namespace ucxbench::merge
