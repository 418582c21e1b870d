#include "bench/pingpong/thread_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/pingpong/refusal.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/names.hpp"
#include "harness/result/words.hpp"

namespace ucxbench::pingpong {
namespace {

constexpr Names<Workers, 2> worker_ways = {
    {{Workers::own, "own", "a UCX worker each"}, {Workers::shared, "shared", "one for all"}}};

// Each is a connection, in two processes, twice: for traffic one way and both worker_ways.
constexpr int most_connections = 256;

// One thread has nothing to share: of both it is measured once.
std::vector<Json> workers_left(const void* parameters, std::vector<Json> values, bool /*asked*/) {
  const Json own(to_string(Workers::own));
  const bool has_own = std::ranges::find(values, own) != values.end();
  if (static_cast<const Parameters*>(parameters)->threads > 1 || !has_own) return values;
  return {own};
}

}  // namespace

Fields<Parameters> thread_fields() {
  return {
      number_field(&Parameters::threads,
                   {.name = "threads",
                    .help = "threads of each rank, which play at the same time, or a list: 1,2,4",
                    .group = "load",
                    .type_name = "N,..",
                    .least = 1,
                    .most = most_busy_threads,
                    .key = Key::if_unusual,
                    .axis = Axis::cases}),
      choice_field(&Parameters::workers, worker_ways, "kind",
                   {.name = "workers",
                    .help = "of several threads: {}, or a list",
                    .group = "load",
                    .type_name = "KIND,..",
                    .key = Key::if_unusual,
                    .axis = Axis::cases,
                    .left = workers_left}),
      number_field(
          &Parameters::endpoints,
          {.name = "endpoints",
           .help = "UCX endpoints of each thread to its peer, which messages take in turn, "
                   "or a list",
           .group = "load",
           .type_name = "N,..",
           .least = 1,
           .most = most_connections,
           .key = Key::if_unusual,
           .axis = Axis::cases}),
  };
}

void check_threads(const Parameters& p) {
  if (p.threads == 1 && p.workers == Workers::shared) {
    refuse("--workers shared",
           "one thread has nothing to share; leave 1 out of --threads, or give "
           "--workers shared,own");
  }
  const auto endpoints = fmt::format("--endpoints {}", p.endpoints);
  if (p.endpoints > 1) {
    refuse_other_devices(p, endpoints);
    if (is_one_sided(p.api)) {
      refuse(endpoints, fmt::format("--api {} has one, whose operations UCX keeps in order; use "
                                    "tag, stream or am",
                                    to_string(p.api)));
    }
  }
  if (p.threads == 1) return;
  const auto threads = fmt::format("--threads {}", p.threads);
  refuse_other_devices(p, threads);
  if (p.progress.kind != ProgressMode::Kind::poll) {
    refuse(threads, fmt::format("several threads wait by --progress-mode poll alone, not {}",
                                p.progress.name()));
  }
  if (on_gpu_or_pinned(p)) {
    refuse(threads, "several threads have host memory here; leave --memory out");
  }
  if (p.buffers == Buffers::cold) {
    refuse(threads, "several threads have warm buffers alone; leave --buffers cold out");
  }
  if (p.expected) {
    refuse(threads, "UCX's estimates know nothing of threads; leave --expected out");
  }
  if (p.header_bytes > 0) {
    refuse(threads, "several threads send no headers here; leave --header out");
  }
  if (p.threads * p.endpoints > most_connections) {
    refuse(threads,
           fmt::format("with {} that is more than {} connections", endpoints, most_connections));
  }
}

std::string threads_told(const Json& parameters) {
  std::string told;
  if (const auto threads = threads_in(parameters); threads > 1) {
    const bool own = text_at(parameters, "/workers") == to_string(Workers::own);
    told = fmt::format(", {} threads, {}", threads, own ? "a worker each" : "one worker");
  }
  if (const auto endpoints = number_at(parameters, "endpoints").value_or(1); endpoints > 1) {
    told += fmt::format(", {} endpoints", endpoints);
  }
  return told;
}

std::string_view to_string(Workers workers) { return name_of(worker_ways, workers); }

}  // namespace ucxbench::pingpong
