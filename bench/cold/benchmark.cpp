#include "harness/run/benchmark.hpp"

#include "bench/cold/parameters.hpp"
#include "bench/cold/rank.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/names.hpp"

namespace ucxbench::cold {
namespace {

constexpr Names<Buffers, 3> kinds = {
    {{Buffers::pool, "pool"}, {Buffers::own, "own"}, {Buffers::fresh, "fresh"}}};

std::vector<Json> numbers_of_peers(const Parameters& p) {
  std::vector<Json> numbers;
  for (int peers = 1; peers < p.ranks; ++peers) numbers.emplace_back(peers);
  return numbers;
}

std::vector<Json> all_kinds(const Parameters&) {
  const auto names = names_in(kinds);
  return {names.begin(), names.end()};
}

void check(const Parameters& p, const Local& local) {
  if (p.ranks < 2) {
    throw Failure(Exit::usage, "--ranks 1: rank 0 sends to the others; use -n 2 or more");
  }
  // Of the largest: one for warm-up, two in a pool.
  check_message_size("--sizes", p, p.bytes, 3, local);
}

Fields<Parameters> fields() {
  return {
      constant_field<Parameters>("api", "tag"),
      place_fields(),
      sizes_field(&Parameters::bytes, "4KiB,64KiB,1MiB,16MiB"),
      each_field(number_field(&Parameters::peers, {.name = "peers", .key = Key::leading}),
                 numbers_of_peers),
      each_field(choice_field(&Parameters::buffers, kinds, "kind of buffers",
                              {.name = "buffers", .key = Key::leading}),
                 all_kinds),
      ranks_field("processes: rank 0 sends to 1, 2, … and all of the others", Key::never),
      progress_mode_field(),
      iterations_field(&Parameters::iterations,
                       "messages of the steady state, and fresh allocations, per peer"),
      pool_size_field(),
      devices_field(),
  };
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "cold",
    .summary = "cost of first messages; when a memory pool pays",
    .examples = {"cold --sizes 64KiB,1MiB --transports shm",
                 "cold -n 4 --memory cuda --transports tcp,nvlink"},
    .parameters = describe<Parameters>(fields(), {.check = check}),
    .run_rank = run_rank,
    .shows = {.kind = ViewKind::first_messages,
              .axes = {message_size(),
                       {"peers", "peers", ShownAxis::Unit::count},
                       {"buffers", "buffers", ShownAxis::Unit::plain}},
              .metrics = {metric_named("first_message_us"), metric_named("steady_us"),
                          metric_named("registration_us"), metric_named("allocate_us"),
                          metric_named("release_us"), metric_named("pool_first_message_us")},
              .at_once = Concurrent::one},
});

}  // namespace

std::string_view to_string(Buffers buffers) { return name_of(kinds, buffers); }

}  // namespace ucxbench::cold
