#include "harness/run/benchmark.hpp"

#include "workloads/svd/parameters.hpp"
#include "workloads/svd/rank.hpp"

namespace ucxbench::svd {
namespace {

constexpr double most_columns = 4096;

Fields<Parameters> shape() {
  return {
      count_field(&Parameters::rows, {.name = "rows",
                                      .help = "rows of each rank; with strong scaling of all ranks",
                                      .group = "load",
                                      .most_drawn = 50'000,
                                      .key = Key::bare}),
      number_field(&Parameters::columns, {.name = "columns",
                                          .help = "columns, far fewer than rows",
                                          .group = "load",
                                          .least = 2,
                                          .most = most_columns,
                                          .most_drawn = 32,
                                          .key = Key::always,
                                          .axis = Axis::cases,
                                          .usual = "16,64"}),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "svd",
    .summary = "singular values and vectors of a tall array, by a tree of QR factorizations",
    .examples = {"svd -n 1,2,4 --rows 100K --columns 32 --html svd.html",
                 "svd -n 4 --comm ucx,sockets --transports tcp"},
    .parameters =
        describe<Parameters>({workload_fields(), shape()}, {.settle = settle, .check = check}),
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks(), {"columns", "columns", ShownAxis::Unit::plain}},
              .metrics = workload_metrics(),
              .amount = Amount{.parameter = "rows"}},
});

}  // namespace
}  // namespace ucxbench::svd
