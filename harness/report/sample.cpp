#include "harness/report/sample.hpp"

#include <algorithm>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/phases.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t samples_per_launch = 100;  ///< enough for p99, not for p99.9

/// 100 values around `middle`, from −5 % to +5 %.
Samples samples_around(double middle) {
  Samples samples{.seen = samples_per_launch};
  for (std::size_t i = 0; i < samples_per_launch; ++i) {
    const auto step = static_cast<double>(i * 37 % samples_per_launch);  // a fixed shuffle
    samples.values.push_back(middle * (0.95 + step / 990));
  }
  auto sorted = samples.values;
  std::sort(sorted.begin(), sorted.end());
  samples.quantiles = {.count = samples_per_launch,
                       .min = sorted.front(),
                       .p50 = quantile_of_sorted(sorted, 0.5),
                       .p90 = quantile_of_sorted(sorted, 0.9),
                       .p99 = quantile_of_sorted(sorted, 0.99),
                       .max = sorted.back()};
  return samples;
}

Case planned(const std::string& set, std::uint64_t bytes) {
  Case of{.key = "pingpong/tag/host-host/" + set + "/" + exact_size(bytes),
          .benchmark = "pingpong",
          .parameters = {{"api", "tag"},
                         {"bytes", bytes},
                         {"memory", {"host", "host"}},
                         {"transports", {set}},
                         {"window", 64},
                         {"bidirectional", true},
                         {"progress_mode", "poll"},
                         {"connect_by", "address"},
                         {"ranks", 2},
                         {"iterations", nullptr},
                         {"time_per_launch_ns", 300000000}},
          .peak_buffer_bytes = 128 * bytes};
  of.shows = shows_of_older(of);
  return of;
}

/// A launch of a link with this start-up time and speed.
LaunchRecord launch_record(int launch, int src, std::uint64_t bytes, double latency_us,
                           double rate_GBps, const std::string& lane) {
  const double drift = 1 + 0.01 * launch;
  const double time_us = (latency_us + static_cast<double>(bytes) / (rate_GBps * 1e3)) * drift;
  const double bandwidth = static_cast<double>(bytes) / (time_us * 1e3) * 1.5;
  LaunchRecord record{.launch = launch,
                      .src = src,
                      .dst = src + 1,
                      .iterations = 1000,
                      .messages = 6400,
                      .warmup_iterations = 100};
  record.cold = {.context_us = 2500, .connect_us = 900, .first_message_us = 3 * time_us};
  record.samples["latency_us"] = samples_around(time_us);
  record.samples["bandwidth_GBps"] = samples_around(bandwidth);
  record.samples["bandwidth_bidirectional_GBps"] = samples_around(1.8 * bandwidth);
  record.samples["message_rate_per_s"] =
      samples_around(bandwidth * 1e9 / static_cast<double>(bytes));
  const auto timed = lane.starts_with("tcp") ? 1.002 : 1.05;  // enough for a finding
  record.overheads = {
      {"timestamp_ns", 7.2}, {"timed_mean_us", timed * time_us}, {"untimed_mean_us", time_us}};
  record.lanes = {lane};
  return record;
}

void environment(Result& result, int ranks) {
  result.run = {{"id", "20260102T030405Z-pingpong"},
                {"started_utc", "2026-01-02T03:04:05Z"},
                {"finished_utc", "2026-01-02T03:05:06Z"},
                {"command", {"ucx-bench", "pingpong"}},
                {"state", "complete"},
                {"tags", Json::object()}};
  result.build = {{"version", "0.1.0"},
                  {"commit", "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b"},
                  {"dirty", false},
                  {"compiler", "GNU 12.2.0"},
                  {"flags", "-O2"}};
  result.machine = {{"id", "node07"},
                    {"hosts", Json::array({{{"name", "node07"},
                                            {"kernel", "Linux 6.1.0"},
                                            {"cpu_model", "Invented CPU 3000"},
                                            {"cores", 8},
                                            {"numa_nodes", 1},
                                            {"gpus", Json::array()},
                                            {"nics", Json::array()}}})},
                    {"labels", {"vm"}},
                    {"topology_hash", nullptr}};
  result.ucx = {{"version", "1.13.1"},
                {"library", "/usr/lib/libucp.so.0"},
                {"environment",
                 {{"asked", {{"tcp", {{"UCX_TLS", "tcp"}}}}},
                  {"inherited", Json::object()},
                  {"effective", {{"tcp", {{"UCX_TLS", "tcp"}}}}}}}};
  for (int rank = 0; rank < ranks; ++rank) {
    result.ranks.push_back({{"rank", rank},
                            {"host", "node07"},
                            {"pid", 100 + rank},
                            {"cpus", std::to_string(2 * rank)},
                            {"numa_node", 0},
                            {"device", nullptr},
                            {"clock", "tsc 2.596 GHz"},
                            {"clock_step_ns", 10.0},
                            {"net_devices", {"lo"}}});
  }
}

void finish(Case& of) {
  of.state = CaseState::measured;
  const auto asked = of.parameters.at("transports");
  for (auto& record : of.launches) {
    record.path.update({{"carried_by", {{asked.front().get<std::string>(), 1.0}}},
                        {"verdict", "as-asked"},
                        {"why", "counters"}});
  }
  of.verified.checked = of.launches.size() * 100;
  summarize(of);
  of.shows = shows_of_older(of);
  sum_paths(of);
}

Case planned_merge(int ranks) {
  Case of{.key = "merge/tag/host-host/tcp/1M/ranks=" + std::to_string(ranks),
          .benchmark = "merge",
          .parameters = {{"api", "tag"},
                         {"memory", {"host", "host"}},
                         {"transports", {"tcp"}},
                         {"net_devices", "lo"},
                         {"ranks", ranks},
                         {"runs", 3},
                         {"ignore_bytes", 1048576},
                         {"scaling", nullptr},
                         {"rows", 1000000}}};
  of.shows = shows_of_older(of);
  return of;
}

Json phase(const std::string& name, PhaseKind kind, double ms, double wall_ms) {
  return {{"name", name},
          {"kind", name_of(phase_kinds, kind)},
          {"median_ms", ms},
          {"share", ms / wall_ms},
          {"slowest_rank", 0},
          {"slowest_ms", 1.1 * ms},
          {"by_rank_ms", {1.1 * ms, 0.9 * ms}}};
}

/// Of what every pair moves, at 2 GB/s and more for higher ranks.
Json pairs_of_merge(int ranks) {
  Json pairs = Json::array();
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst) continue;
      const double rate_GBps = 2 + 0.1 * src + 0.01 * dst;
      const bool counts = src != 3 || dst != 0;
      const auto quartile = [&](double of) { return counts ? Json(of * rate_GBps) : Json(); };
      pairs.push_back({{"src", src},
                       {"dst", dst},
                       {"bytes", 48000000 / ranks},
                       {"messages", 30},
                       {"p25_GBps", quartile(0.8)},
                       {"p50_GBps", quartile(1)},
                       {"p75_GBps", quartile(1.3)},
                       {"goodput_GBps", 1.1 * rate_GBps},
                       {"delivery_p50_us", 2000 / rate_GBps}});
    }
  }
  return pairs;
}

/// A launch in which the exchange takes the longer the more ranks there are.
LaunchRecord merge_record(int launch, int ranks) {
  const double shuffle_ms = 22.0 * (ranks - 1);
  const double wall_ms = (80 + shuffle_ms) * (1 + 0.01 * launch);
  const double input_bytes = 32e6 * ranks;
  LaunchRecord record{
      .launch = launch, .dst = ranks > 1 ? 1 : 0, .iterations = 3, .lanes = {"tcp/lo"}};
  record.samples["wall_ms"] = samples_around(wall_ms);
  record.samples["throughput_GBps"] = samples_around(input_bytes * 1e-6 / wall_ms);
  Json phases = Json::array();
  phases.push_back(phase("partition", PhaseKind::computing, 30, wall_ms));
  phases.push_back(phase("shuffle", PhaseKind::waiting, shuffle_ms, wall_ms));
  phases.push_back(phase("probe", PhaseKind::computing, 45, wall_ms));
  record.workload = {{"phases", phases},
                     {"exchange",
                      {{"bytes", input_bytes * (ranks - 1) / ranks},
                       {"input_bytes", input_bytes},
                       {"alone_GBps", ranks > 1 ? Json(2.5) : Json()}}},
                     {"pairs", pairs_of_merge(ranks)}};
  return record;
}

}  // namespace

Result sample_result() {
  Result result;
  environment(result, 2);
  for (const std::uint64_t bytes : {8U, 1024U, 1048576U}) {
    auto tcp = planned("tcp", bytes);
    auto shm = planned("shm", bytes);
    auto ib = planned("ib", bytes);
    for (int launch = 0; launch < 6; ++launch) {
      tcp.launches.push_back(launch_record(launch, 0, bytes, 12, 2.5, "tcp/lo"));
      // The fifth launch is a slow one: a wide interval, and a finding.
      shm.launches.push_back(
          launch_record(launch, 0, bytes, launch == 4 ? 0.4 : 0.2, 10, "posix/memory"));
    }
    finish(tcp);
    if (bytes > 1024) {
      shm.launches.clear();
      shm.state = CaseState::failed;
      shm.reason = "rank 1 was killed by signal 9 (Killed)";
    } else {
      finish(shm);
    }
    ib.state = CaseState::skipped;
    ib.reason = "cannot run here: ib: no InfiniBand device";
    for (auto* of : {&tcp, &shm, &ib}) result.cases.push_back(std::move(*of));
  }
  return result;
}

Result sample_of_pairs() {
  Result result;
  environment(result, 4);
  for (const std::uint64_t bytes : {8U, 65536U}) {
    auto of = planned("tcp", bytes);
    of.parameters["ranks"] = 4;
    of.shows = shows_of_older(of);
    for (const int src : {0, 2}) {
      of.launches.push_back(launch_record(0, src, bytes, 10 + src, 2, "tcp/lo"));
    }
    finish(of);
    result.cases.push_back(std::move(of));
  }
  return result;
}

Result sample_of_workload() {
  Result result;
  environment(result, 4);
  for (const int ranks : {1, 2, 4}) {
    auto of = planned_merge(ranks);
    for (int launch = 0; launch < 6; ++launch) of.launches.push_back(merge_record(launch, ranks));
    finish(of);
    result.cases.push_back(std::move(of));
  }
  return result;
}

}  // namespace ucxbench
