#include "harness/run/benchmark.hpp"

#include "bench/loggp/parameters.hpp"
#include "bench/loggp/rank.hpp"
#include "harness/run/checked_window.hpp"

namespace ucxbench::loggp {
namespace {

int two(const Parameters&) { return 2; }

void check(const Parameters& p, const Local& local) {
  // One to send from and one to receive into, each with room for a window that is checked.
  check_message_size("--sizes", p, CheckedWindow(p.bytes, p.train).all_bytes(), 2, local);
}

Fields<Parameters> fields() {
  auto ranks = ranks_field("two", Key::never);
  ranks.all.front().asked = false;
  return {
      constant_field<Parameters>("api", "tag"),
      place_fields(),
      ranks,
      sizes_field(&Parameters::bytes, "1:1MiB:x2"),
      comm_field(),
      connect_by_field(),
      progress_mode_field(),
      number_field(&Parameters::train, {.name = "train",
                                        .help = "messages of a train, sent back to back",
                                        .group = "load",
                                        .least = 2,
                                        .most = 1024,
                                        .key = Key::if_unusual}),
      iterations_field(&Parameters::iterations, "of each measurement, per launch"),
      warmup_runs_field(&Parameters::warmup_runs, "iterations of each measurement", "warmup_runs",
                        10'000),
      devices_field(),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "loggp",
    .summary = "parameters of the LogGP model, and how well it fits each size",
    .examples = {"loggp --transports tcp --transports shm",
                 "loggp --sizes 8:64KiB:x2 --comm ucx,sockets,mpi --transports shm"},
    .parameters = describe<Parameters>(fields(), {.check = check, .ranks = two}),
    .one_peer = true,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::curve,
              .axes = {message_size()},
              .metrics =
                  {metric_named(
                       "latency_us",
                       {.title = "latency", .about = "half a round trip", .shown = Shown::drawn}),
                   metric_named("message_us", {.title = "in a train",
                                               .about = "time of each further message of a train"}),
                   metric_named("send_overhead_us",
                                {.title = "o_s",
                                 .about = "overhead of the sender for a message",
                                 .shown = Shown::kept}),
                   metric_named("receive_overhead_us",
                                {.title = "o_r",
                                 .about = "overhead of the receiver for a message",
                                 .shown = Shown::kept})},
              .at_once = Concurrent::one},
});

}  // namespace
}  // namespace ucxbench::loggp
