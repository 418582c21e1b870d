#include "harness/run/benchmark.hpp"

#include "workloads/halo/kernels.hpp"
#include "workloads/halo/parameters.hpp"
#include "workloads/halo/rank.hpp"

namespace ucxbench::halo {
namespace {

Fields<Parameters> domain() {
  return {
      count_field(&Parameters::size, {.name = "size",
                                      .help = "rows and columns of a rank's tile; with strong "
                                              "scaling of the whole domain",
                                      .group = "load",
                                      .most_drawn = 300,
                                      .key = Key::bare,
                                      .axis = Axis::cases,
                                      .usual = "64,256,1024,4096"}),
      count_field(&Parameters::steps, {.name = "steps",
                                       .help = "exchanges, each followed by a stencil, of one run",
                                       .group = "load",
                                       .least = 1,
                                       .most = 1'000'000,
                                       .most_drawn = 20,
                                       .key = Key::if_unusual}),
      bulk_synchronous_field(&Parameters::bulk_synchronous, "exchange, then compute"),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "halo",
    .summary = "stencil on a periodic 2-D domain, edges exchanged with four neighbours",
    .examples = {"halo -n 1,2,4 --size 1024 --html halo.html",
                 "halo -n 4 --memory cuda --transports tcp,nvlink"},
    .parameters =
        describe<Parameters>({workload_fields(), domain()}, {.settle = settle, .check = check}),
    .no_gpu_memory = why_no_cuda_kernels,
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks(), {"size", "size", ShownAxis::Unit::plain}},
              .metrics = workload_metrics(),
              .amount = Amount{.parameter = "size", .power = 2}},
});

}  // namespace
}  // namespace ucxbench::halo
