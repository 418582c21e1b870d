#include "harness/run/benchmark.hpp"

#include <fmt/format.h>

#include "bench/incast/parameters.hpp"
#include "bench/incast/rank.hpp"
#include "harness/core/failure.hpp"
#include "harness/run/checked_window.hpp"

namespace ucxbench::incast {
namespace {

void check(const Parameters& p, const Local& local) {
  if (p.ranks < 3) {
    throw Failure(Exit::usage,
                  "--ranks: incast needs at least three: one that is hot, one whose "
                  "round trips are timed, and one that loads it");
  }
  // Each has one to send from and one to receive into, the hot rank one for each that sends; each
  // with room for a window that is checked.
  check_message_size("--sizes", p, CheckedWindow(p.bytes, p.window).all_bytes(), 3, local);
}

Fields<Parameters> fields() {
  return {
      constant_field<Parameters>("api", "tag"),
      place_fields(),
      sizes_field(&Parameters::bytes, "8,64KiB,1MiB"),
      comm_field(),
      connect_by_field(),
      progress_mode_field(),
      ranks_field("processes: all others send to rank 0, and receive from it", Key::always),
      window_field(&Parameters::window, "messages outstanding, of each pair", 1024),
      iterations_field(
          &Parameters::iterations,
          fmt::format("messages of each pair (default: what takes {} ms, but at least {})", load_ms,
                      least_messages)),
      warmup_runs_field(&Parameters::warmup_runs),
      runs_field(&Parameters::runs),
      devices_field(),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "incast",
    .summary = "many ranks to one and one to many; round trips of 8 B beside that load",
    .examples = {"incast -n 8 --sizes 8,64KiB,1MiB",
                 "incast -n 4 --comm ucx,sockets --transports tcp"},
    .parameters = describe<Parameters>(fields(), {.check = check}),
    .ablation = true,
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::curve,
              .axes = {message_size()},
              .metrics = {metric_named("incast_GBps", {.title = "many to one",
                                                       .about = "what the hot rank receives",
                                                       .shown = Shown::drawn}),
                          metric_named("outcast_GBps", {.title = "one to many"}),
                          metric_named("fairness_ratio", {.title = "fairness", .judged = false}),
                          metric_named("round_trip_us",
                                       {.title = "8 B alone",
                                        .about = "round trip of 8 B, nothing beside it"}),
                          metric_named("loaded_round_trip_us",
                                       {.title = "8 B beside load",
                                        .about = "round trip of 8 B beside many to one"})}},
});

}  // namespace
}  // namespace ucxbench::incast
