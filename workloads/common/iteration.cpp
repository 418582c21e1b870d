#include "workloads/common/iteration.hpp"

#include <map>

#include "harness/core/json.hpp"

namespace ucxbench {
namespace {

Json to_json(const std::vector<Stretch>& stretches) {
  auto json = Json::array();
  for (const auto& [begin, end] : stretches) json.push_back({begin, end});
  return json;
}

std::vector<Stretch> stretches_from(const Json& json) {
  std::vector<Stretch> stretches;
  for (const auto& each : json) {
    stretches.push_back({each.at(0).get<std::uint64_t>(), each.at(1).get<std::uint64_t>()});
  }
  return stretches;
}

}  // namespace

Iteration iteration_of(const PhaseClock& phases, std::size_t phase_count, const Clock& clock) {
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(clock.us(ticks) * 1e3);
  };
  Iteration iteration;
  iteration.met = phases.met();
  iteration.began_ns = phases.began_ns();
  iteration.wall_ns = ns(phases.wall());
  if (const auto ticks = phases.progress()) iteration.progress_ns = ns(*ticks);
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    iteration.phase_ns.push_back(ns(phases.ticks(phase)));
    Stretch stretch;
    if (const auto when = phases.when(phase)) {
      stretch = {iteration.began_ns + ns(when->first), iteration.began_ns + ns(when->second)};
    }
    iteration.phase_when.push_back(stretch);
  }
  return iteration;
}

std::vector<Inflow> inflows_of(std::span<const Transfer> transfers, int rank, int ranks,
                               std::uint64_t ignore_bytes, double clock_step_ns) {
  std::map<int, std::vector<Transfer>> by_peer;
  for (const auto& transfer : transfers) {
    if (transfer.kind == Transfer::receive) by_peer[transfer.peer].push_back(transfer);
  }
  std::vector<Inflow> inflows;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    const auto& all = by_peer[peer];
    Inflow inflow{.src = peer, .dst = rank};
    for (const auto& transfer : all) {
      inflow.bytes += transfer.bytes;
      ++inflow.messages;
      if (transfer.bytes < ignore_bytes || transfer.completed_ns == 0) continue;
      const auto took_ns = static_cast<double>(transfer.completed_ns - transfer.posted_ns);
      const auto rate =
          Clock::rate_per_s(static_cast<double>(transfer.bytes), took_ns, clock_step_ns);
      if (rate) inflow.message_GBps.push_back(*rate * 1e-9);
    }
    inflow.busy_ns = ucxbench::busy_ns(all);
    // Too short for a rate.
    if (static_cast<double>(inflow.busy_ns) < Clock::least_steps * clock_step_ns)
      inflow.busy_ns = 0;
    inflows.push_back(std::move(inflow));
  }
  return inflows;
}

std::optional<double> rate_GBps(const UnderWay& timed, std::uint64_t bytes, double clock_step_ns) {
  if (timed.bytes == 0 || timed.bytes < bytes / 2) return std::nullopt;
  const auto rate = Clock::rate_per_s(static_cast<double>(timed.bytes),
                                      static_cast<double>(timed.ns), clock_step_ns);
  return rate ? std::optional(*rate * 1e-9) : std::nullopt;
}

Json to_json(const Iteration& i) {
  return {{"met", to_json(i.met)},
          {"began_ns", i.began_ns},
          {"wall_ns", i.wall_ns},
          {"phase_ns", i.phase_ns},
          {"progress_ns", i.progress_ns ? Json(*i.progress_ns) : Json()},
          {"busy", to_json(i.busy)},
          {"sent_bytes", i.sent_bytes},
          {"received_bytes", i.received_bytes},
          {"phase_bytes", i.phase_bytes},
          {"phase_when", to_json(i.phase_when)}};
}

Json to_json(const Inflow& inflow) {
  return {
      {"src", inflow.src},
      {"dst", inflow.dst},
      {"bytes", inflow.bytes},
      {"messages", inflow.messages},
      {"message_GBps", inflow.message_GBps},
      {"busy_ns", inflow.busy_ns},
      {"waited_ns", inflow.waited_ns ? Json(*inflow.waited_ns) : Json()},
      {"under_way",
       inflow.under_way ? Json::array({inflow.under_way->bytes, inflow.under_way->ns}) : Json()}};
}

Iteration parse_iteration(const Json& json) {
  Iteration i;
  i.met = met_from(json.at("met"));
  json.at("began_ns").get_to(i.began_ns);
  json.at("wall_ns").get_to(i.wall_ns);
  json.at("phase_ns").get_to(i.phase_ns);
  if (const auto& ns = json.at("progress_ns"); !ns.is_null()) {
    i.progress_ns = ns.get<std::uint64_t>();
  }
  i.busy = stretches_from(json.at("busy"));
  json.at("sent_bytes").get_to(i.sent_bytes);
  json.at("received_bytes").get_to(i.received_bytes);
  json.at("phase_bytes").get_to(i.phase_bytes);
  i.phase_when = stretches_from(json.at("phase_when"));
  return i;
}

Inflow parse_inflow(const Json& json) {
  Inflow inflow;
  json.at("src").get_to(inflow.src);
  json.at("dst").get_to(inflow.dst);
  json.at("bytes").get_to(inflow.bytes);
  json.at("messages").get_to(inflow.messages);
  json.at("message_GBps").get_to(inflow.message_GBps);
  json.at("busy_ns").get_to(inflow.busy_ns);
  if (const auto& ns = json.at("waited_ns"); !ns.is_null()) {
    inflow.waited_ns = ns.get<std::uint64_t>();
  }
  if (const auto& words = json.at("under_way"); !words.is_null()) {
    inflow.under_way =
        UnderWay{.bytes = words.at(0).get<std::uint64_t>(), .ns = words.at(1).get<std::uint64_t>()};
  }
  return inflow;
}

}  // namespace ucxbench
