#include "harness/run/benchmark.hpp"

#include "workloads/replay/parameters.hpp"
#include "workloads/replay/rank.hpp"

namespace ucxbench::replay {
namespace {

/// From the log; not an option.
Field of_log(const std::string& name, Key key = Key::never) {
  return {.name = name, .key = key, .asked = false};
}

Fields<Parameters> load() {
  return {
      text_field(&Parameters::log,
                 {.name = "log",
                  .aliases = "LOG",
                  .help = "run file of a workload, or a dump of Dask's transfer_incoming_log",
                  .group = "load",
                  .type_name = "LOG",
                  .told = false}),
      text_field(&Parameters::named_case,
                 {.name = "case",
                  .help = "case of the run file, if it has several: a part of its key",
                  .group = "load",
                  .type_name = "KEY",
                  .told = false}),
      flag_field(&Parameters::as_fast_as_possible,
                 {.name = "as-fast-as-possible",
                  .help = "leave out the time between messages, keep their order",
                  .group = "load",
                  .key = Key::if_unusual,
                  .key_text = "gaps=none"}),
      text_field(&Parameters::traffic, of_log("traffic", Key::bare)),
      count_field(&Parameters::messages, of_log("messages")),
      size_field(&Parameters::traffic_bytes, of_log("traffic-bytes")),
      real_field(&Parameters::recorded_ms, of_log("recorded-ms")),
  };
}

const Description& description() {
  static const auto once = describe<Parameters>(
      {recorded_workload_fields(), load()}, {.settle = settle, .check = check, .ranks = ranks_of});
  return once;
}

std::optional<Rendezvous::Bytes> data_for_rank(const Json& parameters, int rank, std::size_t part) {
  return part_of_script(traffic_of(description().read<Parameters>(parameters)), rank, part);
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "replay",
    .summary = "replay the messages of a recorded run, ours or Dask's, over any transport",
    .examples = {"replay merge.json --transports tcp --transports shm",
                 "replay dask.json --comm ucx,sockets --transports tcp --as-fast-as-possible"},
    .parameters = description(),
    .ablation = true,
    .data = data_for_rank,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::workload,
              .axes = {number_of_ranks(), {"traffic", "traffic", ShownAxis::Unit::plain}},
              .metrics = workload_metrics()},
});

}  // namespace
}  // namespace ucxbench::replay
