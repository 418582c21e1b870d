#include "harness/run/benchmark.hpp"

#include "workloads/moe/parameters.hpp"
#include "workloads/moe/rank.hpp"

namespace ucxbench::moe {
namespace {

constexpr double most_experts = 65536;

Fields<Parameters> load() {
  return {
      count_field(&Parameters::tokens,
                  {.name = "tokens",
                   .help = "tokens of each rank; with strong scaling of all ranks",
                   .group = "load",
                   .most_drawn = 500,
                   .key = Key::bare}),
      number_field(&Parameters::experts, {.name = "experts",
                                          .help = "experts of all ranks together",
                                          .group = "load",
                                          .least = 1,
                                          .most = most_experts,
                                          .most_drawn = 32,
                                          .key = Key::always}),
      number_field(&Parameters::top_k, {.name = "top-k",
                                        .help = "experts that a token goes to",
                                        .group = "load",
                                        .least = 1,
                                        .most = most_experts,
                                        .most_drawn = 8,
                                        .key = Key::always}),
      size_field(&Parameters::token_bytes, {.name = "token-size",
                                            .parameter = "token_bytes",
                                            .help = "bytes of a token, each way",
                                            .group = "load",
                                            .key = Key::always}),
      text_field(&Parameters::routing,
                 {.name = "routing",
                  .help = "how popular experts are: uniform | hot:K, the first K alone | zipf:S",
                  .group = "load",
                  .type_name = "NAME",
                  .key = Key::always,
                  .axis = Axis::cases,
                  .usual = "uniform,zipf:1.2"}),
  };
}

std::vector<ShownMetric> metrics() {
  auto all = workload_metrics();
  all.push_back(metric_named("dispatch_GBps", {.sum_of = SumOf::ranks}));
  all.push_back(metric_named("combine_GBps", {.sum_of = SumOf::ranks}));
  return all;
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "moe",
    .summary = "tokens to experts and back: an all-to-all as uneven as the routing",
    .examples = {"moe -n 8 --tokens 1024 --experts 64 --top-k 8 --routing uniform,zipf:1.2",
                 "moe -n 4 --comm ucx,sockets --transports tcp"},
    .parameters =
        describe<Parameters>({workload_fields(), load()}, {.settle = settle, .check = check}),
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks(), {"routing", "routing", ShownAxis::Unit::plain}},
              .metrics = metrics(),
              .amount = Amount{.parameter = "tokens"}},
});

}  // namespace
}  // namespace ucxbench::moe
