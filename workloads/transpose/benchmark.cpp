#include "harness/run/benchmark.hpp"

#include "workloads/transpose/kernels.hpp"
#include "workloads/transpose/parameters.hpp"
#include "workloads/transpose/rank.hpp"

namespace ucxbench::transpose {
namespace {

constexpr Names<Outcome, 2> outcomes = {
    {{Outcome::keep, "keep", "the array that is made"}, {Outcome::sum, "sum", "of its elements"}}};

Fields<Parameters> array() {
  return {
      count_field(&Parameters::size,
                  {.name = "size",
                   .help = "rows and columns of the array; with weak scaling of one rank's",
                   .group = "load",
                   .most_drawn = 300,
                   .key = Key::bare}),
      count_field(&Parameters::chunk_size, {.name = "chunk-size",
                                            .help = "rows and columns of a tile",
                                            .group = "load",
                                            .most_drawn = 100,
                                            .key = Key::if_unusual}),
      choice_field(&Parameters::outcome, outcomes, "result",
                   {.name = "result",
                    .help = "{}",
                    .group = "load",
                    .type_name = "WHICH",
                    .key = Key::if_unusual}),
      bulk_synchronous_field(&Parameters::bulk_synchronous, "exchange, then add"),
  };
}

// dask-cuda: the defaults of dask_cuda/benchmarks/local_cupy.py. dgx-post: the articles of RAPIDS
// and Dask on UCX and a DGX-1. mpi4dask: the paper "Efficient MPI-based Communication for
// GPU-Accelerated Dask Applications". What was published, and where ours differs, is in
// docs/method/workloads.md. An array's data grow with the square of its size.
std::vector<Preset> presets() {
  const auto array_of = [](double size, double chunk_size) -> std::vector<Preset::Amount> {
    return {{.option = "size", .value = size, .power = 0.5},
            {.option = "chunk-size", .value = chunk_size, .power = 0.5}};
  };
  return {
      {.name = "dask-cuda",
       .amounts = array_of(10'000, 2'500),
       .others = {{"result", "sum"}, {"runs", "3"}, {"ignore-size", "1MiB"}}},
      {.name = "dgx-post",
       .amounts = array_of(40'000, 4'096),
       .others = {{"result", "sum"}, {"ignore-size", "1MB"}}},
      {.name = "mpi4dask", .amounts = array_of(16'384, 4'096), .others = {{"result", "keep"}}},
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "transpose",
    .summary = "distributed array plus its transpose",
    .examples = {"transpose -n 1,2,4 --size 5000 --html transpose.html",
                 "transpose -n 4 --memory cuda --transports tcp,nvlink"},
    .parameters = describe<Parameters>({workload_fields(presets()), array()},
                                       {.settle = settle, .check = check}),
    .presets = presets(),
    .no_gpu_memory = why_no_cuda_kernels,
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks()},
              .metrics = workload_metrics(),
              .amount = Amount{.parameter = "size", .per_rank = false, .power = 2}},
});

}  // namespace
}  // namespace ucxbench::transpose
