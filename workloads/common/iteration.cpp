#include "workloads/common/iteration.hpp"

#include <utility>

#include "harness/core/json.hpp"
#include "harness/core/or_null.hpp"
#include "harness/result/words.hpp"

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

void look_at_messages(Iteration& iteration, const std::vector<TwoEnds>& messages) {
  std::vector<Stretch> busy;
  std::vector<Stretch> carried;
  bool all_known = true;
  for (const auto& message : messages) {
    busy.push_back(message.under_way());
    if (message.own.kind != Transfer::receive) continue;
    carried.push_back(message.longest());
    all_known &= message.other_known();
  }
  iteration.busy = union_of(std::move(busy));
  if (all_known) iteration.carried = union_of(std::move(carried));
}

Json to_json(const Iteration& i) {
  return {{"met", to_json(i.met)},
          {"began_ns", i.began_ns},
          {"wall_ns", i.wall_ns},
          {"phase_ns", i.phase_ns},
          {"progress_ns", i.progress_ns ? Json(*i.progress_ns) : Json()},
          {"busy", to_json(i.busy)},
          {"carried", i.carried ? to_json(*i.carried) : Json()},
          {"sent_bytes", i.sent_bytes},
          {"received_bytes", i.received_bytes},
          {"phase_bytes", i.phase_bytes},
          {"phase_when", to_json(i.phase_when)}};
}

Json to_json(const Inflow& inflow) {
  return {{"src", inflow.src},
          {"dst", inflow.dst},
          {"bytes", inflow.bytes},
          {"messages", inflow.messages},
          {"quartiles_GBps", inflow.quartiles_GBps},
          {"goodput_GBps", number_or_null(inflow.goodput_GBps)},
          {"delivery_us", number_or_null(inflow.delivery_us)},
          {"waited_ns", inflow.waited_ns ? Json(*inflow.waited_ns) : Json()}};
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
  if (const auto& of = json.at("carried"); !of.is_null()) i.carried = stretches_from(of);
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
  json.at("quartiles_GBps").get_to(inflow.quartiles_GBps);
  inflow.goodput_GBps = number_at(json, "goodput_GBps");
  inflow.delivery_us = number_at(json, "delivery_us");
  if (const auto& ns = json.at("waited_ns"); !ns.is_null()) {
    inflow.waited_ns = ns.get<std::uint64_t>();
  }
  return inflow;
}

}  // namespace ucxbench
