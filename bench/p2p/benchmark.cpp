#include "harness/run/benchmark.hpp"

#include <fmt/format.h>

#include "bench/p2p/parameters.hpp"
#include "bench/p2p/rank.hpp"
#include "harness/core/failure.hpp"
#include "harness/run/checked_window.hpp"

namespace ucxbench::p2p {
namespace {

void check(const Parameters& p, const Local& local) {
  if (p.ranks < 2) throw Failure(Exit::usage, "--ranks 1: p2p needs at least two");
  // One to send from and one for each rank that sends, each with room for a window that is checked.
  check_message_size("--sizes", p, CheckedWindow(p.bytes, p.window).all_bytes(), p.ranks, local);
}

Fields<Parameters> fields() {
  return {
      constant_field<Parameters>("api", "tag"),
      place_fields(),
      // A GPU's links need more to be busy.
      sizes_field(&Parameters::bytes, "16MiB", "256MiB"),
      choice_field(&Parameters::concurrent, concurrent_names, "choice of pairs",
                   {.name = "concurrent",
                    .help = "pairs that send at once: {}, or a list",
                    .group = "load",
                    .key = Key::always,
                    .axis = Axis::cases,
                    .usual = "one,all"}),
      comm_field(),
      connect_by_field(),
      progress_mode_field(),
      ranks_field("processes: every ordered pair is measured", Key::always),
      window_field(&Parameters::window, "messages outstanding, of each pair", 1024, Key::never),
      iterations_field(
          &Parameters::iterations,
          fmt::format("messages of a stream (default: what takes {} ms, but at least {})",
                      stream_ms, least_messages)),
      warmup_runs_field(&Parameters::warmup_runs, "streams of each pair and launch",
                        "warmup_streams"),
      runs_field(&Parameters::runs, "streams of each pair and launch", "streams"),
      devices_field(),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "p2p",
    .summary = "bandwidth of every pair of ranks, one at a time and all at once",
    .examples = {"p2p -n 4 --html p2p.html",
                 "p2p -n 8 --memory cuda --transports tcp,nvlink --json gpus.json"},
    .parameters = describe<Parameters>(fields(), {.check = check}),
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .duet_steps = 2,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::matrix,
              .axes = {message_size(), {"concurrent", "at once", ShownAxis::Unit::pairs}},
              // The rate is the bandwidth in other units.
              .metrics = {metric_named("bandwidth_GBps", {.shown = Shown::drawn}),
                          metric_named("together_GBps", {.sum_of = SumOf::pairs}),
                          metric_named("message_rate_per_s",
                                       {.judged = false, .shown = Shown::kept})}},
});

}  // namespace

}  // namespace ucxbench::p2p
