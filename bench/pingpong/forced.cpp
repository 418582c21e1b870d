#include "bench/pingpong/forced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "bench/pingpong/connection.hpp"
#include "bench/pingpong/expected.hpp"
#include "bench/pingpong/measure.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/or_null.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench::pingpong {
namespace {

bool says(const ProtocolRange& range, std::initializer_list<const char*> words) {
  return std::ranges::any_of(
      words, [&](const char* word) { return range.protocol.find(word) != std::string::npos; });
}
bool is_rendezvous(const ProtocolRange& range) { return says(range, {"rendezvous", "rndv"}); }
bool is_zero_copy(const ProtocolRange& range) { return says(range, {"zero-copy", "zcopy"}); }

// The setting that moves the threshold between them; empty where there is none.
std::string setting_between(const ProtocolRange& below, const ProtocolRange& above) {
  if (is_rendezvous(below)) return "";
  if (is_rendezvous(above)) return "RNDV_THRESH";
  return !is_zero_copy(below) && is_zero_copy(above) ? "ZCOPY_THRESH" : "";
}

bool are_alike_but_for_size(const Parameters& one, const Parameters& other) {
  return name_of_connection(one) == name_of_connection(other) && one.buffers == other.buffers &&
         static_cast<const MessageAxes&>(one) == static_cast<const MessageAxes&>(other);
}

Json measured(RankContext& context, Pair& pair, const CaseRange& which, const ForcedCase& forced,
              PairMemory& memory) {
  auto p = which.of.parameters;
  p.bandwidth = p.bidirectional = false;
  Connection connection(
      context, pair, p,
      {.purpose = fmt::format("case {}, UCX_{}={}", which.of.index, forced.name, forced.value),
       .settings = {{forced.name, forced.value}}});
  auto& loops = connection.loops();
  const Rendezvous::Progress progress = [&] { loops.turn(); };
  context.rendezvous().barrier(progress);
  auto [send, receive] = memory.buffers(p.buffer_bytes());
  const Bench bench{.pair = pair,
                    .loops = loops,
                    .one_way = loops,
                    .clock = context.clock(),
                    .send = send,
                    .receive = receive,
                    .progress = progress,
                    .form = memory.form_of(p)};
  const auto result = measure(bench, p, [](const LaunchRecord&) {});
  Json row = {{"use", "forced"},
              {"settings", {{"UCX_" + forced.name, forced.value}}},
              {"protocol", nullptr},
              {"latency_us", nullptr}};
  if (pair.leads()) {
    if (!result.checks.error.empty()) {
      throw Failure(Exit::wrong_data, fmt::format("with UCX_{}={}: {}", forced.name, forced.value,
                                                  result.checks.error));
    }
    if (const auto range = range_of_case(connection.device(), p)) row["protocol"] = range->protocol;
    row["latency_us"] = number_or_null(result.record.samples.at("latency_us").quantiles.p50);
  }
  connection.close();
  return row;
}

}  // namespace

std::vector<ForcedCase> cases_to_force(const std::vector<CaseRange>& cases) {
  std::vector<ForcedCase> forced;
  for (std::size_t above = 0; above < cases.size(); ++above) {
    const auto& larger = cases[above];
    // The next smaller one.
    const CaseRange* smaller = nullptr;
    for (const auto& other : cases) {
      const auto bytes = other.of.parameters.bytes;
      if (!are_alike_but_for_size(other.of.parameters, larger.of.parameters) ||
          bytes >= larger.of.parameters.bytes) {
        continue;
      }
      if (smaller == nullptr || bytes > smaller->of.parameters.bytes) smaller = &other;
    }
    if (smaller == nullptr || !smaller->range || !larger.range ||
        smaller->range->from == larger.range->from) {
      continue;
    }
    const auto name = setting_between(*smaller->range, *larger.range);
    if (name.empty()) continue;
    const auto below = static_cast<std::size_t>(smaller - cases.data());
    forced.push_back({below, name, std::to_string(smaller->of.parameters.bytes)});
    forced.push_back({above, name, "inf"});
  }
  return forced;
}

std::map<std::size_t, Json> measure_forced(RankContext& context, Pair& pair,
                                           const std::vector<CaseRange>& cases,
                                           PairMemory& memory) {
  auto& rendezvous = context.rendezvous();
  constexpr const char* key = "forced";
  if (rendezvous.rank() == 0) {
    auto chosen = Json::array();
    for (const auto& [at, name, value] : cases_to_force(cases)) chosen.push_back({at, name, value});
    rendezvous.put(key, to_bytes(chosen), {});
  }
  std::map<std::size_t, Json> rows;
  for (const auto& chosen : from_bytes(rendezvous.get(key, {}))) {
    const auto at = chosen.at(0).get<std::size_t>();
    const ForcedCase forced{at, chosen.at(1).get<std::string>(), chosen.at(2).get<std::string>()};
    auto& of_case = rows.try_emplace(cases.at(at).of.index, Json::array()).first->second;
    of_case.push_back(measured(context, pair, cases.at(at), forced, memory));
  }
  return rows;
}

}  // namespace ucxbench::pingpong
