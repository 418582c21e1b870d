#include "bench/incast/report.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "bench/incast/load.hpp"
#include "harness/core/clock.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench::incast {
namespace {

constexpr std::size_t kept_samples = 1000;

void append(std::vector<double>& all, const Json& of_rank, const char* name) {
  for (const auto& value : of_rank.at(name)) all.push_back(value.get<double>());
}

bool is_long_enough(const std::vector<double>& ns, double clock_step_ns) {
  return !ns.empty() && std::ranges::min(ns) >= Clock::least_steps * clock_step_ns;
}

}  // namespace

Json to_json(const Run& run) {
  return {{"in_ns", run.in_ns},
          {"out_ns", run.out_ns},
          {"alone_ns", run.alone_ns},
          {"beside_ns", run.beside_ns}};
}

Run run_of(const std::vector<Json>& ranks) {
  Run run;
  for (const auto& rank : ranks) {
    append(run.in_ns, rank, "in_ns");
    append(run.out_ns, rank, "out_ns");
    append(run.alone_ns, rank, "alone_ns");
    append(run.beside_ns, rank, "beside_ns");
  }
  return run;
}

LaunchRecord record_of(const std::vector<Run>& runs, const Parameters& p, std::uint64_t messages,
                       double clock_step_ns) {
  std::map<std::string, std::vector<double>> samples;
  const auto bytes = static_cast<double>(messages) * static_cast<double>(p.bytes);
  std::uint64_t round_trips = 0;
  std::map<std::pair<int, int>, std::vector<double>> in_GBps, out_GBps;  // by sender and receiver
  for (const auto& run : runs) {
    if (is_long_enough(run.in_ns, clock_step_ns)) {
      const auto in = shares_of(run.in_ns, bytes);
      samples["incast_GBps"].push_back(in.GBps);
      samples["fairness_ratio"].push_back(in.fairness);
      for (int at = 0; at < std::ssize(run.in_ns); ++at) {
        in_GBps[{at + 1, hot_rank}].push_back(bytes / run.in_ns[static_cast<std::size_t>(at)]);
      }
    }
    if (is_long_enough(run.out_ns, clock_step_ns)) {
      samples["outcast_GBps"].push_back(shares_of(run.out_ns, bytes).GBps);
      for (int at = 0; at < std::ssize(run.out_ns); ++at) {
        out_GBps[{hot_rank, at + 1}].push_back(bytes / run.out_ns[static_cast<std::size_t>(at)]);
      }
    }
    for (const auto ns : run.alone_ns) samples["round_trip_us"].push_back(ns * 1e-3);
    for (const auto ns : run.beside_ns) samples["loaded_round_trip_us"].push_back(ns * 1e-3);
    round_trips += run.alone_ns.size() + run.beside_ns.size();
  }
  LaunchRecord record;
  record.src = probe_rank;
  record.dst = hot_rank;
  record.iterations = round_trips;
  record.messages = messages;
  record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
  for (auto& [name, values] : samples) {
    const bool time = name.ends_with("_us");
    record.samples[name] =
        make_samples(std::move(values), kept_samples, time ? clock_step_ns * 1e-3 : 0);
  }
  add_pair_medians(record, in_GBps);
  add_pair_medians(record, out_GBps);
  return record;
}

}  // namespace ucxbench::incast
