#include "harness/run/benchmark.hpp"

#include "bench/kv/models.hpp"
#include "bench/kv/parameters.hpp"
#include "bench/kv/rank.hpp"

namespace ucxbench::kv {
namespace {

constexpr Names<Api, 2> operations = {
    {{Api::get, "get", "decode ranks read"}, {Api::put, "put", "prefill ranks write"}}};

// Every rank is on one of the two sides.
Json prefill_of(const Parameters& p) { return json_of(p.prefill); }
void set_prefill(Parameters& p, const Json& value) {
  assign(p.prefill, value);
  p.ranks = p.prefill + p.decode;
}
Json decode_of(const Parameters& p) { return json_of(p.decode); }
void set_decode(Parameters& p, const Json& value) {
  assign(p.decode, value);
  p.ranks = p.prefill + p.decode;
}

Fields<Parameters> load() {
  return {
      text_field(&Parameters::model, with_choices(models(), {.name = "model",
                                                             .help = "{}",
                                                             .group = "load",
                                                             .type_name = "NAME",
                                                             .key = Key::always})),
      count_field(&Parameters::tokens,
                  {.name = "tokens",
                   .help = "tokens of the context (default: 512); or --descriptors and --block",
                   .group = "load",
                   .null_if_empty = true}),
      number_field(&Parameters::block_tokens, {.name = "block-tokens",
                                               .help = "tokens of a block",
                                               .group = "load",
                                               .least = 1,
                                               .most = 65536}),
      count_field(&Parameters::descriptors,
                  {.name = "descriptors",
                   .help = "descriptors of a decode rank in a round (default: the whole context)",
                   .group = "load",
                   .most_drawn = 2000,
                   .key = Key::always,
                   .axis = Axis::cases,
                   .null_if_empty = true}),
      window_field(&Parameters::window, "outstanding operations of each rank (default: all)",
                   1'000'000),
  };
}

Fields<Parameters> sides() {
  return {
      computed_field<Parameters>(FieldType::number, prefill_of, set_prefill,
                                 {.name = "prefill",
                                  .help = "ranks that have the cache, each a share of the heads",
                                  .group = "ranks",
                                  .least = 1,
                                  .most = 512,
                                  .key = Key::always}),
      computed_field<Parameters>(FieldType::number, decode_of, set_decode,
                                 {.name = "decode",
                                  .help = "ranks that need it, each a share of the heads",
                                  .group = "ranks",
                                  .least = 1,
                                  .most = 512,
                                  .key = Key::always}),
      number_field(&Parameters::ranks, {.name = "ranks", .asked = false}),
  };
}

Fields<Parameters> samples() {
  return {
      number_field(&Parameters::sessions,
                   {.name = "sessions",
                    .help = "sessions per launch; each registers memory and exchanges keys",
                    .group = "sample",
                    .least = 1,
                    .most = 1000,
                    .most_drawn = 2}),
      number_field(&Parameters::rounds, {.name = "rounds",
                                         .aliases = "-r",
                                         .help = "later rounds of each session, after the first",
                                         .group = "sample",
                                         .least = 1,
                                         .most = 100'000,
                                         .most_drawn = 2}),
  };
}

Fields<Parameters> fields() {
  return {choice_field(&Parameters::op, operations, "operation",
                       {.name = "op",
                        .parameter = "api",
                        .help = "{}, or a list",
                        .group = "load",
                        .type_name = "OP,..",
                        .key = Key::bare,
                        .axis = Axis::cases,
                        .usual = "get,put"}),
          place_fields(),
          size_field(&Parameters::bytes, {.name = "block",
                                          .parameter = "bytes",
                                          .help = "size of a descriptor (default: from the model)",
                                          .group = "load",
                                          .most_drawn = std::uint64_t{64} << 10U,
                                          .key = Key::bare,
                                          .axis = Axis::cases,
                                          .null_if_empty = true}),
          load(),
          sides(),
          connect_by_field(),
          progress_mode_field(),
          samples(),
          devices_field()};
}

// Derived from the times, so not judged.
ShownMetric posting() {
  auto metric = metric_named(
      "posting_ratio",
      {.title = "posting", .about = "share of a round's time spent posting", .judged = false});
  metric.better = "lower";
  return metric;
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "kv",
    .summary = "KV cache of a model from prefill to decode ranks, by put and get",
    .examples = {"kv --model llama3-70b --tokens 256 --prefill 2 --decode 2 --op get",
                 "kv --descriptors 1K,10K --block 4KiB,64KiB --transports tcp --transports shm"},
    .parameters = describe<Parameters>(fields(), {.settle = settle, .check = check_case}),
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::curve,
              .axes = {{"bytes", "block", ShownAxis::Unit::bytes},
                       {"descriptors", "descriptors", ShownAxis::Unit::plain}},
              .metrics =
                  {metric_named("later_round_GBps", {.title = "later rounds",
                                                     .about = "rate of all decode ranks together, "
                                                              "after the first round",
                                                     .shown = Shown::drawn,
                                                     .sum_of = SumOf::ranks}),
                   metric_named("first_round_GBps", {.title = "first round",
                                                     .about = "rate of all decode ranks together, "
                                                              "in the first round",
                                                     .sum_of = SumOf::ranks}),
                   posting(),
                   metric_named("first_layer_us",
                                {.title = "first layer",
                                 .about = "time until a decode rank can use the first layer"}),
                   metric_named("prepare_us", {.title = "prepare"}),
                   metric_named("post_us", {.title = "post"}),
                   metric_named("transfer_us", {.title = "transfer"}),
                   metric_named("register_us", {.judged = false, .shown = Shown::kept}),
                   metric_named("descriptors_per_s", {.judged = false, .sum_of = SumOf::ranks})}},
});

}  // namespace
}  // namespace ucxbench::kv
