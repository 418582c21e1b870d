#include "harness/run/benchmark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "bench/pingpong/parameters.hpp"
#include "bench/pingpong/rank.hpp"
#include "bench/pingpong/refusal.hpp"
#include "bench/pingpong/thread_options.hpp"
#include "bench/pingpong/threads.hpp"
#include "harness/comm/link.hpp"
#include "harness/core/names.hpp"
#include "harness/core/text.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench::pingpong {
namespace {

constexpr Names<Check, 3> amounts = {
    {{Check::full, "full"}, {Check::sample, "sample"}, {Check::off, "off"}}};

constexpr Names<Buffers, 2> kinds_of_buffers = {
    {{Buffers::warm, "warm", "one each way, used again and again"},
     {Buffers::cold, "cold", "other memory for each message, which no cache holds"}}};

constexpr Names<Pairs, 2> choices_of_pairs = {
    {{Pairs::neighbours, "neighbours", "ranks 2k and 2k + 1"},
     {Pairs::every, "every", "each rank with every other, in rounds"}}};

// Of one pair of many.
constexpr std::chrono::nanoseconds least_time_of_a_round = std::chrono::milliseconds(20);

constexpr Names<bool Parameters::*, 2> measurements = {
    {{&Parameters::latency, "latency"}, {&Parameters::bandwidth, "bandwidth"}}};

void settle(Parameters& p) {
  p.time_per_launch = p.max_time / p.launches;
  if (const auto rounds = static_cast<int>(p.rounds()); rounds > 1) {
    p.time_per_launch = std::max(p.time_per_launch / rounds, least_time_of_a_round);
  }
  if (p.enable_rdmacm) p.connect_by = ConnectBy::sockaddr;
}

std::string api_option(const Parameters& p) { return fmt::format("--api {}", to_string(p.api)); }

// What put, get and atomic operations cannot have.
void check_operations(const Parameters& p) {
  using Kind = ProgressMode::Kind;
  if (!is_one_sided(p.api)) return;
  const auto api = api_option(p);
  if (p.progress.kind == Kind::event || p.progress.kind == Kind::thread) {
    refuse(api, fmt::format("nothing wakes the target of such an operation, so ranks cannot sleep "
                            "as with --progress-mode {}; give --progress-mode poll",
                            p.progress.name()));
  }
  if (p.api == Api::put && p.bytes == 0) refuse(api, "a put of 0 B cannot be seen; give --sizes 1");
  if (!is_atomic(p.api)) return;
  if (p.bidirectional)
    refuse(api, "atomic operations have no bandwidth; leave --bidirectional out");
  if (uses_gpu(p)) {
    refuse(api, "the word of an atomic operation is in host memory here; leave --memory out");
  }
}

// What cold buffers need.
void check_buffers(const Parameters& p) {
  if (p.buffers == Buffers::warm) return;
  const std::string cold = "--buffers cold";
  refuse_other_devices(p, cold);
  if (is_one_sided(p.api)) {
    refuse(cold, fmt::format("{} acts on one place of the peer's memory; use tag, stream or am",
                             api_option(p)));
  }
  if (on_gpu_or_pinned(p)) {
    refuse(cold, "only host memory is in the caches of the CPU; leave --memory out");
  }
}

// What other devices have no counterpart of.
void check_device(const Parameters& p) {
  using Kind = ProgressMode::Kind;
  if (p.comm == CommKind::ucx) return;
  if (p.comm == CommKind::mpi && p.api == Api::stream) {
    refuse(api_option(p), "MPI has no streams; use --api tag with --comm mpi");
  }
  if (p.progress.kind != Kind::poll && p.progress.kind != Kind::event) {
    refuse(fmt::format("--progress-mode {}", p.progress.name()),
           fmt::format("with --comm {} ranks wait by poll or event", to_string(p.comm)));
  }
  if (p.api != Api::tag && p.api != Api::stream) {
    refuse(api_option(p),
           fmt::format("only UCX has this operation; use --api {} with --comm {}",
                       p.comm == CommKind::mpi ? "tag" : "tag or stream", to_string(p.comm)));
  }
  if (p.expected) {
    refuse("--expected", fmt::format("only UCX has estimates; leave out --expected or --comm {}",
                                     to_string(p.comm)));
  }
}

// Of an atomic operation the size is its width; a list has at least a byte in each part.
std::vector<Json> sizes_left(const void* parameters, std::vector<Json> sizes, bool asked) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  const auto least = p.layout.entries;
  std::erase_if(sizes, [&](const Json& bytes) { return bytes < least; });
  if (sizes.empty()) {
    refuse(fmt::format("--buffer {}", to_string(p.layout)),
           fmt::format("each part has a byte or more; give --sizes of {} B or more", least));
  }
  if (!is_atomic(p.api)) return sizes;
  if (!asked) return {4, 8};
  std::erase_if(sizes, [](const Json& bytes) { return bytes != 4 && bytes != 8; });
  if (sizes.empty())
    refuse(api_option(p), "an atomic operation has 4 or 8 bytes; give --sizes 4,8");
  return sizes;
}

void check(const Parameters& p, const Local& local) {
  if (p.ranks > 1 && p.ranks % 2 != 0) {
    refuse(fmt::format("--ranks {}", p.ranks),
           "pairs need an even number, or 1 with --transports self");
  }
  if (p.enable_rdmacm && !names_fabric(p.transports, Fabric::rdma)) {
    refuse("--enable-rdmacm", "connections by rdmacm need --enable-infiniband");
  }
  if (p.bidirectional && !p.bandwidth) {
    refuse("--bidirectional", "it is a bandwidth, which --measure latency leaves out");
  }
  check_device(p);
  check_operations(p);
  check_threads(p);
  check_buffers(p);
  check_message_axes(p);
  check_message_size("--sizes", p, p.buffer_bytes(), 2, local);
}

Json measured(const Parameters& p) {
  auto names = Json::array();
  for (const auto& metric : measurements) {
    if (p.*metric.value) names.push_back(metric.name);
  }
  return names;
}

void measure(Parameters& p, const Json& names) {
  p.latency = p.bandwidth = false;
  for (const auto& list : names) {
    const auto text = text_in(list);
    for (const auto name : split_text(text, ','))
      p.*parse_name(measurements, name, "", "metric") = true;
  }
}

Fields<Parameters> sizes() {
  auto fields = sizes_field(&Parameters::bytes, "8:4MiB:x2", "8:64MiB:x2");
  fields.all.front().left = sizes_left;
  return fields;
}

Fields<Parameters> load() {
  return {
      choice_field(&Parameters::api, api_names, "API",
                   {.name = "api",
                    .help = "{}, or a list; atomic: the last three, of 4 and 8 bytes",
                    .group = "load",
                    .type_name = "API,..",
                    .key = Key::bare,
                    .axis = Axis::cases,
                    .several = {{"atomic", {"fadd", "swap", "cswap"}}}}),
      place_fields(),
      progress_modes_field(),
      thread_fields(),
      message_axes_fields(),
      sizes(),
      window_field(&Parameters::window, "messages outstanding in the bandwidth part", 65536),
      choice_field(&Parameters::buffers, kinds_of_buffers, "kind of buffers",
                   {.name = "buffers",
                    .help = "{}, or a list",
                    .group = "load",
                    .type_name = "KIND,..",
                    .key = Key::if_unusual,
                    .axis = Axis::cases}),
      choice_field(&Parameters::pairs, choices_of_pairs, "choice of pairs",
                   {.name = "pairs",
                    .help = "who plays with whom: {}",
                    .group = "load",
                    .type_name = "CHOICE",
                    .key = Key::if_unusual}),
      computed_field<Parameters>(FieldType::texts, measured, measure,
                                 with_choices(measurements, {.name = "measure",
                                                             .help = "{}, or both",
                                                             .group = "load",
                                                             .type_name = "METRIC,..",
                                                             .key = Key::if_unusual})),
      flag_field(
          &Parameters::bidirectional,
          {.name = "bidirectional", .help = "also bandwidth both ways at once", .group = "load"}),
  };
}

Fields<Parameters> samples() {
  return {
      warmup_runs_field(&Parameters::warmup_runs),
      choice_field(&Parameters::check, amounts, "amount",
                   {.name = "check",
                    .help = "payload comparison outside the clock: {}",
                    .group = "sample",
                    .type_name = "AMOUNT"}),
      iterations_field(&Parameters::iterations,
                       "exact number, whatever the time (default: by --max-time)", 100'000'000),
      time_field(&Parameters::max_time, {.name = "max-time",
                                         .help = "measuring time per case, all launches together",
                                         .group = "sample",
                                         .recorded = false}),
      time_field(&Parameters::time_per_launch, {.name = "time-per-launch-ns", .asked = false}),
      flag_field(&Parameters::expected,
                 {.name = "expected",
                  .help = "also show the estimates by which UCX chooses protocols",
                  .group = "sample"}),
  };
}

Fields<Parameters> fields() {
  return {ranks_field("processes: an even number, pairs play at once; 1 = self", Key::if_unusual),
          comm_field(),
          connect_by_field(),
          flag_field(&Parameters::enable_rdmacm, {.name = "enable-rdmacm",
                                                  .help = "--connect-by sockaddr, by rdmacm",
                                                  .group = "place, as dask-cuda spells it",
                                                  .recorded = false}),
          devices_field(),
          pool_size_field(),
          no_pool_field(),
          load(),
          samples()};
}

// What --measure does not name is not shown, and put, get and atomic operations show other times
// and rates than messages do.
void adapt(const Json& parameters, std::vector<ShownMetric>& metrics) {
  const auto api = parse_api(text_in(parameters.at("api")));
  const bool answered = is_answered(api);
  Parameters asked;
  if (const auto names = parameters.find("measure"); names != parameters.end()) {
    measure(asked, *names);
  }
  const bool both_ways = parameters.value("bidirectional", false);
  std::erase_if(metrics, [&](const ShownMetric& metric) {
    if (!(metric.unit == "us" ? asked.latency : asked.bandwidth)) return true;
    if (metric.name == "bandwidth_bidirectional_GBps" && !both_ways) return true;
    if (metric.name == "completion_us") return api != Api::put;
    if (metric.name == "bandwidth_sender_GBps") return answered;
    return is_atomic(api) && metric.name.starts_with("bandwidth");
  });
  for (auto& metric : metrics) {
    if (metric.name == "latency_us" && answered) {
      metric.title = fmt::format("time of one {}", to_string(api));
      metric.about = metric.title + ", with its answer";
    }
    if (metric.name == "message_rate_per_s" && is_atomic(api)) {
      metric = metric_named(metric.name, {.title = "operations", .shown = Shown::drawn});
    }
  }
}

std::string told(const Json& parameters) {
  return threads_told(parameters) + message_axes_told(parameters);
}

// How UCX is used, against the way that most programs use it.
std::vector<Usage> usages() {
  return {{"error_mode", "none", "ask for peer only where peers may be lost"},
          {"buffer", "contiguous", "send one contiguous buffer"},
          {"register", "ucx", "leave memory handles to UCX's cache"},
          {"receives", "expected", "post receives before messages come"},
          {"header_bytes", nullptr, "put what is long into the payload"},
          // The threads share the processors: that each takes longer is no cost.
          {"threads", 1, "use fewer threads, or --workers own", true},
          {"workers", "own", "give each thread a worker of its own"},
          {"endpoints", 1, "use one endpoint for a peer"}};
}

// In a duet one side pauses, and the other has the same processors.
std::string why_no_duet(const Json& parameters) {
  const auto api = parameters.value("api", "tag");
  if (is_one_sided(parse_api(api))) return api + " needs progress at its target";
  if (const auto threads = threads_in(parameters); threads > 1) {
    return fmt::format("--threads {}", threads);
  }
  const auto mode = parameters.value("progress_mode", "poll");
  return mode == "poll" || mode == "event" ? "" : "--progress-mode " + mode;
}

// The one that makes progress is busy too.
int busy_threads(const Parameters& p) {
  return p.progress.kind == ProgressMode::Kind::thread ? 2 : p.threads;
}

[[maybe_unused]] const bool registered = register_benchmark({
    .name = "pingpong",
    .summary = "latency and bandwidth between two ranks, over sizes",
    .examples = {"pingpong --quick",
                 "pingpong --transports shm --transports auto --sizes 8:1MiB:x8 --json run.json"},
    .parameters = describe<Parameters>(
        fields(), {.settle = settle, .check = check, .busy_threads = busy_threads}),
    .quick = {{"sizes", "8:64MiB:x8"}, {"launches", "1"}, {"max-time", "60ms"}},
    .one_peer = true,
    .ablation = true,
    .duet_ranks = most_duet_ranks,
    .duet_gpus = true,
    .why_no_duet = why_no_duet,
    .run_rank = run_rank,
    .shows = {.axes = {message_size()},
              // The rate is the bandwidth in other units; what the sender sees is another tool's
              // bandwidth.
              .metrics =
                  {metric_named("latency_us", {.about = "one-way latency", .shown = Shown::drawn}),
                   metric_named("bandwidth_GBps",
                                {.about = "bandwidth one way as received", .shown = Shown::drawn}),
                   metric_named("bandwidth_bidirectional_GBps", {.sum_of = SumOf::both_ways}),
                   metric_named("completion_us", {.about = "put and flush, until its origin knows "
                                                           "that it is done at the target"}),
                   metric_named("bandwidth_sender_GBps", {.judged = false, .shown = Shown::kept}),
                   metric_named("message_rate_per_s", {.judged = false, .shown = Shown::kept})},
              .usages = usages(),
              .adapt = adapt,
              .told = told},
});

}  // namespace

std::size_t Parameters::rounds() const {
  return pairs == Pairs::every && ranks > 1 ? static_cast<std::size_t>(ranks) - 1 : 1;
}

std::uint64_t Parameters::buffer_bytes() const {
  constexpr std::uint64_t mib = 1U << 20U;
  const auto places = checked_places();
  if (buffers == Buffers::warm) {
    return room_of_threads(places > 1 ? places * LinkBuffers::place_bytes(bytes) : bytes, threads);
  }
  const auto cache = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  return std::max(std::clamp(2 * cache, 64 * mib, 512 * mib),
                  2 * std::uint64_t{LinkBuffers::place_bytes(bytes)});
}

std::size_t Parameters::checked_places() const {
  constexpr std::uint64_t all = 4U << 20U;
  constexpr std::uint64_t largest = 64U << 20U;
  if (check == Check::off || !bandwidth || layout.entries > 0 || is_atomic(api)) return 1;
  const auto fits = std::max<std::uint64_t>(
      all / LinkBuffers::place_bytes(std::max<std::uint64_t>(bytes, 1)), bytes <= largest ? 2 : 1);
  return std::bit_floor(std::min(fits, static_cast<std::uint64_t>(window)));
}

}  // namespace ucxbench::pingpong
