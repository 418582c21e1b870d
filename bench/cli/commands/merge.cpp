#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/published.hpp"
#include "bench/cli/options/workload_options.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/units.hpp"
#include "workloads/merge/cuda_arguments.hpp"
#include "workloads/merge/kernels.hpp"
#include "workloads/merge/parameters.hpp"

namespace ucxbench {
namespace {

struct MergeOptions {
  WorkloadOptions common;
  std::string rows = "1M";
  double frac_match = 0.3;
  std::string generator = "permuted";
  double skew = 0;
  std::uint32_t payload_columns = 1;
  std::uint32_t batches = 4;
  bool bulk_synchronous = false;
  bool frames = false;
  std::string inject;
};

void add_options(CLI::App& command, MergeOptions& o) {
  o.common.add_options(command);
  command
      .add_option("--rows,--chunk-size", o.rows,
                  "rows of each table on each rank; with strong scaling on all together")
      ->group("load")
      ->type_name("COUNT")
      ->capture_default_str();
  command.add_option("--frac-match", o.frac_match, "part of the rows that match")
      ->group("load")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--generator", o.generator, "permuted | dask (as dask-cuda makes its tables)")
      ->group("load")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--skew", o.skew, "Zipf exponent of the keys that probe rows have; 0: even")
      ->group("load")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command.add_option("--payload-columns", o.payload_columns, "8-byte columns beside the key")
      ->group("load")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command.add_option("--batches", o.batches, "parts in which a share is exchanged and joined")
      ->group("load")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      .add_flag("--bulk-synchronous", o.bulk_synchronous,
                "partition, exchange, join, one after the other")
      ->group("load");
  command
      .add_flag("--frames", o.frames,
                "send a batch as dataframe frameworks do: a header, then each column")
      ->group("load");
  command.add_option("--inject", o.inject, "make a mistake: corrupt | drop | misroute")
      ->group("load")
      ->type_name("MISTAKE");
  o.common.add_outputs(command);
}

void check_dask(const merge::Parameters& p) {
  if (p.skew > 0) {
    throw Failure(Exit::usage, "--skew: dask's generator knows none; leave one out");
  }
  if (p.rows >= static_cast<std::uint64_t>(p.common.ranks)) return;
  throw Failure(Exit::usage,
                fmt::format("--rows: dask's generator needs at least {} rows on each of "
                            "{} ranks, not {}",
                            p.common.ranks, p.common.ranks, p.rows));
}

void check_host_memory(const merge::Parameters& p) {
  const auto ranks = static_cast<std::uint64_t>(p.common.ranks);
  // The system and UCX keep a tenth.
  const auto fits = available_memory_bytes() / 10 * 9 / ranks;
  const auto needed = merge::memory_bytes(p, p.common.ranks);
  if (needed <= fits) return;
  const auto part = static_cast<double>(fits) / static_cast<double>(needed);
  const auto strong = p.common.scaling == Scaling::strong ? ranks : 1;
  const auto most = static_cast<std::uint64_t>(static_cast<double>(p.rows * strong) * part);
  throw Failure(Exit::usage,
                fmt::format("--rows: {} rows in each of {} ranks take {} of memory; at most "
                            "--rows {} fit{}",
                            exact_count(p.rows), ranks, rough_size(needed * ranks), most,
                            p.common.like.empty() ? ""
                                                  : fmt::format(", that is --scale {:.2g}",
                                                                p.common.scale * part * 0.99)));
}

// A batch of a rank has at least one.
void check_buckets(const merge::Parameters& p) {
  const auto buckets = p.batches * static_cast<std::uint32_t>(p.common.ranks);
  if (buckets <= merge::most_cuda_buckets) return;
  throw Failure(Exit::usage,
                fmt::format("--batches {}: with {} ranks that is {} buckets, but a GPU partitions "
                            "into {} at most; lower one of the two",
                            p.batches, p.common.ranks, buckets, merge::most_cuda_buckets));
}

void check(const merge::Parameters& whole, const Plan& plan) {
  check_workload(plan, whole.injected);
  const bool host_memory = std::ranges::any_of(
      plan.memory, [](const auto& kinds) { return kinds.front() == MemoryKind::host; });
  const bool gpu_memory =
      std::ranges::any_of(plan.memory, [](const auto& kinds) { return on_gpu(kinds.front()); });
  for (const auto ranks : plan.ranks) {
    const auto p = merge::for_ranks(whole, ranks);
    if (p.generator == merge::Generator::Kind::dask) check_dask(p);
    if (host_memory) check_host_memory(p);
    if (gpu_memory) check_buckets(p);
  }
}

Plan parse_plan(const MergeOptions& o) {
  auto plan = o.common.begin("merge");
  merge::Parameters p;
  p.common = o.common.parameters();
  p.rows = of_option("--rows", [&] { return parse_count(o.rows); });
  p.frac_match = o.frac_match;
  p.generator = merge::parse_generator(o.generator);
  p.skew = o.skew;
  p.payload_columns = o.payload_columns;
  p.batches = o.batches;
  p.bulk_synchronous = o.bulk_synchronous;
  p.framing = o.frames ? merge::Framing::frames : merge::Framing::contiguous;
  p.injected = parse_injected(o.inject);
  check(p, plan);
  plan.no_gpu_memory = merge::why_no_cuda_kernels();
  plan.cases = [p](const CasePlace& place) {
    auto here = merge::for_ranks(p, place.ranks);
    here.common = placed(here.common, place);
    return std::vector{planned_case("merge", here)};
  };
  return plan;
}

}  // namespace

AddedCommand add_merge(CLI::App& app) {
  auto* command = app.add_subcommand(
      "merge", "two tables, hash-partitioned, exchanged by all ranks and joined");
  const auto options = std::make_shared<MergeOptions>();
  add_options(*command, *options);
  return measuring(command, options->common.run, [command, options] {
    fill_as_published(*command, options->common.like, options->common.scale);
    return parse_plan(*options);
  });
}

}  // namespace ucxbench
