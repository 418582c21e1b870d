#include "harness/run/benchmark.hpp"

#include "workloads/merge/kernels.hpp"
#include "workloads/merge/parameters.hpp"
#include "workloads/merge/rank.hpp"

namespace ucxbench::merge {
namespace {

constexpr Names<Generator::Kind, 2> generators = {
    {{Generator::Kind::permuted, "permuted"},
     {Generator::Kind::dask, "dask", "as dask-cuda makes its tables"}}};

Fields<Parameters> tables() {
  return {
      count_field(&Parameters::rows,
                  {.name = "rows",
                   .aliases = "--chunk-size",
                   .help = "rows of each table on each rank; with strong scaling on all together",
                   .group = "load",
                   .most_drawn = 50'000,
                   .key = Key::bare}),
      real_field(&Parameters::frac_match, {.name = "frac-match",
                                           .help = "fraction of the rows that match",
                                           .group = "load",
                                           .least = 0,
                                           .most = 1,
                                           .key = Key::if_unusual}),
      choice_field(&Parameters::generator, generators, "generator",
                   {.name = "generator", .help = "{}", .group = "load", .key = Key::if_unusual}),
      real_field(&Parameters::skew,
                 {.name = "skew",
                  .help = "Zipf exponent of the keys that probe rows have; 0: even",
                  .group = "load",
                  .least = 0,
                  .most = 10,
                  .key = Key::if_unusual}),
      number_field(&Parameters::payload_columns, {.name = "payload-columns",
                                                  .help = "8-byte columns beside the key",
                                                  .group = "load",
                                                  .least = 0,
                                                  .most = 64,
                                                  .most_drawn = 4,
                                                  .key = Key::if_unusual}),
  };
}

Fields<Parameters> exchange() {
  return {
      number_field(&Parameters::batches,
                   {.name = "batches",
                    .help = "parts in which a rank's rows are exchanged and joined",
                    .group = "load",
                    .least = 1,
                    .most = 1024,
                    .most_drawn = 8,
                    .key = Key::if_unusual}),
      bulk_synchronous_field(&Parameters::bulk_synchronous, "partition, exchange, join"),
      flag_field(&Parameters::frames,
                 {.name = "frames",
                  .help = "send a batch as dataframe frameworks do: a header, then each column",
                  .group = "load",
                  .key = Key::if_unusual}),
  };
}

// dask-cuda: the defaults of dask_cuda/benchmarks/local_cudf_merge.py. dgx-post: the articles of
// RAPIDS and Dask on UCX and a DGX-1; they give no number of rows, 25.6 GB on 8 GPUs fit their
// figures. mpi4dask: the paper "Efficient MPI-based Communication for GPU-Accelerated Dask
// Applications". What was published, and where ours differs, is in docs/method/workloads.md.
std::vector<Preset> presets() {
  return {
      {.name = "dask-cuda",
       .amounts = {{.option = "rows", .value = 1e6}},
       .others =
           {{"frac-match", "0.3"}, {"generator", "dask"}, {"runs", "3"}, {"ignore-size", "1MiB"}}},
      {.name = "dgx-post",
       .amounts = {{.option = "rows", .value = 1e8}},
       .others = {{"frac-match", "0.3"}, {"generator", "dask"}}},
      {.name = "mpi4dask",
       .amounts = {{.option = "rows", .value = 1e8}},
       .others = {{"frac-match", "0.3"}, {"generator", "dask"}}},
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "merge",
    .summary = "distributed join of two hash-partitioned tables",
    .examples = {"merge -n 4 --rows 1M --html merge.html",
                 "merge --like dask-cuda --scale 0.01 --memory cuda --transports tcp,nvlink"},
    .parameters = describe<Parameters>({workload_fields(presets()), tables(), exchange()},
                                       {.settle = settle, .check = check}),
    .presets = presets(),
    .no_gpu_memory = why_no_cuda_kernels,
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks()},
              .metrics = workload_metrics(),
              .amount = Amount{.parameter = "rows"}},
});

}  // namespace
}  // namespace ucxbench::merge
