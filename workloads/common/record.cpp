#include "workloads/common/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/core/statistics.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/together.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t kept_samples = 1000;

using Value = std::function<double(const Iteration&)>;
/// Of a rank that has nothing to do in a phase there is no time of it.
using Time = std::function<std::optional<double>(const Iteration&)>;

/// Over the iterations that have it.
std::optional<double> median_of(const RankFacts& rank, const Time& time) {
  std::vector<double> values;
  for (const auto& iteration : rank.iterations) {
    if (const auto value = time(iteration)) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

// What one rank did in one iteration.
using When = std::function<std::vector<Stretch>(const Iteration&)>;

// What all ranks did in one iteration, by their common time axis.
std::vector<Span> spans_of(const std::vector<RankFacts>& ranks, std::size_t nth, const When& when) {
  std::vector<Met> met;
  for (const auto& rank : ranks) met.push_back(rank.iterations.at(nth).met);
  const TimeAxis axis(
      have_one_identity(ranks, [](const RankFacts& rank) -> auto& { return rank.clock; }), met);
  std::vector<Span> spans;
  for (const auto& rank : ranks) {
    const auto& iteration = rank.iterations.at(nth);
    for (const auto& [begin, end] : when(iteration)) {
      spans.push_back({.begin = axis.at(begin, iteration.met), .end = axis.at(end, iteration.met)});
    }
  }
  return spans;
}

std::vector<Stretch> whole(const Iteration& i) { return {{i.began_ns, i.began_ns + i.wall_ns}}; }

double sum_of(const std::vector<RankFacts>& ranks, const Value& value) {
  double sum = 0;
  for (const auto& rank : ranks) {
    for (const auto& iteration : rank.iterations) sum += value(iteration);
  }
  return sum;
}

/// Of the ranks that have this phase; null where none has.
Json to_json(const Phase& phase, const std::vector<RankFacts>& ranks, const Time& ns) {
  std::vector<double> medians;
  std::optional<std::size_t> slowest_rank;
  double slowest_ms = 0;
  auto by_rank = Json::array();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto own_ns = median_of(ranks[rank], ns);
    by_rank.push_back(own_ns ? Json(*own_ns * 1e-6) : Json());
    if (!own_ns) continue;
    medians.push_back(*own_ns * 1e-6);
    if (slowest_rank && medians.back() <= slowest_ms) continue;
    slowest_rank = rank;
    slowest_ms = medians.back();
  }
  Json json = {{"name", phase.name}, {"kind", name_of(phase_kinds, phase.kind)}};
  for (const auto* field : {"median_ms", "share", "slowest_rank", "slowest_ms"}) {
    json[field] = nullptr;
  }
  if (!slowest_rank) return json;
  const auto wall = sum_of(ranks, [](const Iteration& i) { return double(i.wall_ns); });
  json["median_ms"] = median(std::move(medians));
  json["share"] = sum_of(ranks, [&](const Iteration& i) { return ns(i).value_or(0); }) / wall;
  json["slowest_rank"] = *slowest_rank;
  json["slowest_ms"] = slowest_ms;
  json["by_rank_ms"] = std::move(by_rank);
  return json;
}

/// Of the progress of messages while ranks compute. Null where no rank timed it: on a GPU the CPU
/// makes progress beside the kernels, and some workloads make none while they compute.
Json moving_phase(const std::vector<RankFacts>& ranks, std::string_view mover) {
  const auto name = fmt::format("{}, while computing", mover);
  return to_json({name, PhaseKind::moving}, ranks, [](const Iteration& i) {
    return i.progress_ns ? std::optional(double(*i.progress_ns)) : std::nullopt;
  });
}

Value bytes_in(std::size_t phase) {
  return [phase](const Iteration& i) {
    return i.phase_bytes.empty() ? 0.0 : static_cast<double>(i.phase_bytes.at(phase));
  };
}

double moving_ns(const Iteration& i) { return static_cast<double>(sum_ns(i.busy)); }

// A rank never enters a phase that is others' alone, like a higher level of a tree.
Time ns_in(std::size_t phase) {
  return [phase](const Iteration& i) -> std::optional<double> {
    if (phase < i.phase_when.size() && i.phase_when[phase].end_ns == 0) return std::nullopt;
    return static_cast<double>(i.phase_ns.at(phase));
  };
}

// The most that any rank received, of the mean.
std::optional<double> imbalance(const std::vector<RankFacts>& ranks, const Value& bytes) {
  double most = 0;
  for (const auto& rank : ranks) most = std::max(most, sum_of({rank}, bytes));
  const auto all = sum_of(ranks, bytes);
  return all > 0 ? std::optional(most * static_cast<double>(ranks.size()) / all) : std::nullopt;
}

Json phases_of(const std::vector<RankFacts>& ranks, std::span<const Phase> phases,
               std::string_view mover) {
  Json all = Json::array();
  for (std::size_t at = 0; at < phases.size(); ++at) {
    all.push_back(to_json(phases[at], ranks, ns_in(at)));
    if (const auto most = imbalance(ranks, bytes_in(at))) all.back()["ingress_imbalance"] = *most;
  }
  all.push_back(moving_phase(ranks, mover));
  return all;
}

// Per iteration: what all ranks received in a phase, from the first one's begin of it to the last
// one's end.
std::vector<double> rates_of_phase(const std::vector<RankFacts>& ranks, std::size_t phase,
                                   double clock_step_ns) {
  std::vector<double> rates;
  const auto in_phase = [phase](const Iteration& i) {
    const auto& when = i.phase_when.at(phase);
    return when.end_ns == 0 ? std::vector<Stretch>() : std::vector{when};
  };
  for (std::size_t i = 0; i < ranks.front().iterations.size(); ++i) {
    if (ranks.front().iterations[i].phase_bytes.empty()) continue;
    double bytes = 0;
    for (const auto& rank : ranks) bytes += bytes_in(phase)(rank.iterations[i]);
    if (bytes <= 0) continue;
    const auto ns = together_of(spans_of(ranks, i, in_phase)).span_ns;
    const auto rate = Clock::rate_per_s(bytes, ns, clock_step_ns);
    if (rate) rates.push_back(*rate * 1e-9);
  }
  return rates;
}

Json exchange_of(const std::vector<RankFacts>& ranks, std::span<const Phase> phases,
                 std::optional<double> alone) {
  const auto place_of = [&](PhaseKind kind) {
    return static_cast<std::size_t>(std::ranges::find(phases, kind, &Phase::kind) - phases.begin());
  };
  const auto waiting = place_of(PhaseKind::waiting);
  const auto gaps = place_of(PhaseKind::gap);
  const auto not_ready = place_of(PhaseKind::not_ready);
  const auto spent_in = [](std::size_t phase) {
    return [phase](const Iteration& i) {
      return phase < i.phase_ns.size() ? double(i.phase_ns[phase]) : 0;
    };
  };
  double sent = 0;
  double most_sent = 0;
  for (const auto& rank : ranks) {
    const auto of_rank = sum_of({rank}, [](const Iteration& i) { return double(i.sent_bytes); });
    sent += of_rank;
    most_sent = std::max(most_sent, of_rank);
  }
  const auto iterations = static_cast<double>(ranks.front().iterations.size());
  const auto busy = sum_of(ranks, moving_ns);
  // Without a phase that waits all of them do nothing else, but in gaps and before others are
  // ready.
  const auto exposed = sum_of(ranks, [&](const Iteration& i) {
    if (waiting < i.phase_ns.size()) return double(i.phase_ns[waiting]);
    return double(i.wall_ns) - spent_in(gaps)(i) - spent_in(not_ready)(i);
  });
  const auto count = static_cast<double>(ranks.size());
  Json exchange = {{"bytes", sent / iterations},
                   {"alone_GBps", number_or_null(alone)},
                   {"busy_ms", busy > 0 ? Json(busy / iterations / count * 1e-6) : Json()},
                   {"exposed_ms", exposed / iterations / count * 1e-6}};
  if (not_ready < phases.size()) {
    exchange["not_ready_ms"] = sum_of(ranks, spent_in(not_ready)) / iterations / count * 1e-6;
  }
  exchange["overlap"] = busy > 0 ? Json(std::max(0.0, 1 - exposed / busy)) : Json();
  exchange["egress_imbalance"] = sent > 0 ? Json(most_sent * count / sent) : Json();
  return exchange;
}

Json pairs_of(const std::vector<RankFacts>& ranks) {
  Json pairs = Json::array();
  for (const auto& rank : ranks) {
    for (const auto& inflow : rank.inflows) {
      const auto quartile = [&](std::size_t nth) {
        return inflow.quartiles_GBps.empty() ? Json() : Json(inflow.quartiles_GBps.at(nth));
      };
      pairs.push_back({{"src", inflow.src},
                       {"dst", inflow.dst},
                       {"bytes", inflow.bytes},
                       {"messages", inflow.messages},
                       {"p25_GBps", quartile(0)},
                       {"p50_GBps", quartile(1)},
                       {"p75_GBps", quartile(2)},
                       {"goodput_GBps", number_or_null(inflow.goodput_GBps)},
                       {"delivery_p50_us", number_or_null(inflow.delivery_us)}});
      if (!inflow.waited_ns) continue;
      const auto runs = static_cast<double>(rank.iterations.size());
      pairs.back()["waiting_ms"] = static_cast<double>(*inflow.waited_ns) * 1e-6 / runs;
      pairs.back()["under_way_GBps"] = pairs.back()["goodput_GBps"];
    }
  }
  return pairs;
}

/// Per iteration in which both ends of all messages are known: what all ranks received, by the time
/// in which any of it was on its way.
std::vector<double> exchange_rates(const std::vector<RankFacts>& ranks, double clock_step_ns) {
  std::vector<double> rates;
  for (std::size_t nth = 0; nth < ranks.front().iterations.size(); ++nth) {
    if (!std::ranges::all_of(ranks, [nth](const RankFacts& rank) {
          return rank.iterations.at(nth).carried.has_value();
        })) {
      continue;
    }
    double received = 0;
    for (const auto& rank : ranks) received += double(rank.iterations[nth].received_bytes);
    std::vector<Stretch> stretches;
    const auto zero_ns = ranks.front().iterations[nth].met.came_ns;
    const auto at = [zero_ns](double ns) {
      return zero_ns + static_cast<std::uint64_t>(std::llround(ns));
    };
    const auto carried = [](const Iteration& i) { return *i.carried; };
    for (const auto& span : spans_of(ranks, nth, carried)) {
      stretches.push_back({at(span.begin.earliest_ns), at(span.end.latest_ns)});
    }
    const auto ns = static_cast<double>(sum_ns(union_of(std::move(stretches))));
    const auto rate = Clock::rate_per_s(received, ns, clock_step_ns);
    if (rate && received > 0 && ns > 0) rates.push_back(*rate * 1e-9);
  }
  return rates;
}

}  // namespace

Json to_json(const RankFacts& facts) {
  Json json = {{"clock", facts.clock},
               {"iterations", Json::array()},
               {"inflows", Json::array()},
               {"transfers_dropped", facts.transfers_dropped},
               {"peak_buffer_bytes", facts.peak_buffer_bytes},
               {"asleep_ns", facts.asleep_ns},
               {"counted", facts.counted},
               {"checks", to_json(facts.checks)}};
  for (const auto& iteration : facts.iterations) json["iterations"].push_back(to_json(iteration));
  for (const auto& inflow : facts.inflows) json["inflows"].push_back(to_json(inflow));
  return json;
}

RankFacts parse_rank_facts(const Json& json) {
  RankFacts facts;
  json.at("clock").get_to(facts.clock);
  for (const auto& iteration : json.at("iterations"))
    facts.iterations.push_back(parse_iteration(iteration));
  for (const auto& inflow : json.at("inflows")) facts.inflows.push_back(parse_inflow(inflow));
  json.at("transfers_dropped").get_to(facts.transfers_dropped);
  json.at("peak_buffer_bytes").get_to(facts.peak_buffer_bytes);
  json.at("asleep_ns").get_to(facts.asleep_ns);
  facts.counted = json.at("counted");
  facts.checks = parse_checks(json.at("checks"));
  return facts;
}

LaunchRecord make_record(const std::vector<RankFacts>& ranks, std::span<const Phase> phases,
                         std::uint64_t input_bytes, std::optional<double> exchange_alone_GBps,
                         double clock_step_ns, std::string_view mover) {
  LaunchRecord record;
  record.iterations = ranks.front().iterations.size();
  std::vector<double> wall_ms;
  std::vector<double> throughput;
  for (std::size_t i = 0; i < record.iterations; ++i) {
    const auto wall_ns = together_of(spans_of(ranks, i, whole)).span_ns;
    wall_ms.push_back(wall_ns * 1e-6);
    const auto input = Clock::rate_per_s(double(input_bytes), wall_ns, clock_step_ns);
    if (input) throughput.push_back(*input * 1e-9);
  }
  record.samples["wall_ms"] = make_samples(std::move(wall_ms), kept_samples);
  if (!throughput.empty()) {
    record.samples["throughput_GBps"] = make_samples(std::move(throughput), kept_samples);
  }
  if (auto exchange = exchange_rates(ranks, clock_step_ns); !exchange.empty()) {
    record.samples["exchange_GBps"] = make_samples(std::move(exchange), kept_samples);
  }
  for (std::size_t at = 0; at < phases.size(); ++at) {
    auto rates = rates_of_phase(ranks, at, clock_step_ns);
    if (rates.empty()) continue;
    record.samples[fmt::format("{}_GBps", phases[at].name)] =
        make_samples(std::move(rates), kept_samples);
  }
  std::uint64_t dropped = 0;
  for (const auto& rank : ranks) dropped += rank.transfers_dropped;
  auto exchange_facts = exchange_of(ranks, phases, exchange_alone_GBps);
  exchange_facts["input_bytes"] = input_bytes;
  exchange_facts["transfers_dropped"] = dropped;
  record.workload = {{"phases", phases_of(ranks, phases, mover)}, {"pairs", Json::array()}};
  if (dropped == 0) {
    record.workload["pairs"] = pairs_of(ranks);
    for (const auto& rank : ranks) {
      for (const auto& inflow : rank.inflows) record.messages += inflow.messages;
    }
  } else {
    // What follows from the messages would be of those that the log had room for.
    for (const auto* name : {"busy_ms", "overlap"}) exchange_facts[name] = nullptr;
  }
  record.workload["exchange"] = std::move(exchange_facts);
  return record;
}

}  // namespace ucxbench
