// The rank side of the ping-pong benchmark: two connections per launch and
// name_of_connection(), and every size over them.

#include "bench/pingpong/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "bench/pingpong/connection.hpp"
#include "bench/pingpong/expected.hpp"
#include "bench/pingpong/forced.hpp"
#include "bench/pingpong/measure.hpp"
#include "bench/pingpong/memory.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "bench/pingpong/prove.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/failure.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/case_under_way.hpp"

namespace ucxbench::pingpong {
namespace {

// All ranks gather what each says: meanwhile the other side may still need progress of either
// connection.
void report_rank(RankContext& context, Connection& connection, const Parameters& parameters,
                 const PairMemory& memory, const Rendezvous::Progress& progress) {
  context.report_rank(
      memory.gpu(),
      {{"net_devices", parameters.net_devices}, {"ucx_effective", connection.effective()}},
      progress);
}

void run_connection(RankContext& context, Pair& pair,
                    const std::vector<PlannedCase<Parameters>>& cases, PairMemory& memory,
                    bool first, std::vector<CaseRange>& ranges) {
  const auto& common = cases.front().parameters;
  Connection connection(context, pair, common,
                        {.purpose = pair.name_in_round("traffic both ways")});
  std::optional<Connection> one_way;
  if (common.bandwidth) {
    // One side may have met while the other still needs it to make progress on this connection.
    context.rendezvous().barrier([&] { connection.loops().turn(); });
    one_way.emplace(
        context, pair, common,
        ConnectionUse{.purpose = pair.name_in_round("traffic one way"), .meets = false});
  }
  auto& one_way_loops = one_way ? one_way->loops() : connection.loops();
  const auto progress = [&] {
    connection.loops().turn();
    if (one_way) one_way_loops.turn();
  };
  if (first) report_rank(context, connection, common, memory, progress);
  for (const auto& planned : cases) {
    context.rendezvous().barrier(progress);
    const auto& parameters = planned.parameters;
    if (parameters.no_pool) {
      for (auto* loops : {&connection.loops(), &one_way_loops}) {
        if (auto* one_sided = loops->one_sided()) one_sided->withdraw();
      }
    }
    auto [send, receive] = memory.buffers(parameters.buffer_bytes());
    expose(connection.loops(), parameters.api, send, receive);
    if (one_way) expose(one_way_loops, parameters.api, send, receive);
    const Bench bench{.pair = pair,
                      .loops = connection.loops(),
                      .one_way = one_way_loops,
                      .clock = context.clock(),
                      .send = send,
                      .receive = receive,
                      .progress = progress,
                      .form = memory.form_of(parameters),
                      .duet = context.duet()};
    const auto launch = context.plan().at("launch").get<int>();
    std::vector<LaunchRecord> finished;
    CaseUnderWay under_way(context, planned.index,
                           [&] { return CaseUnderWay::Finished{.records = finished}; });
    auto measured = measure(bench, parameters, [&](const LaunchRecord& record) {
      if (!pair.leads()) return;
      const auto lock = under_way.change();
      finished = {record};
      finished.front().launch = launch;
    });
    if (parameters.expected) {
      ranges.push_back(
          {planned, pair.leads() ? range_of_case(connection.device(), parameters) : std::nullopt});
    }
    measured.record.path = prove(bench, parameters, connection, context.gpus(), launch == 0,
                                 measured.record.cold.first_message_us.value_or(0));
    if (!pair.leads()) continue;
    measured.record.launch = launch;
    measured.record.cold.context_us = connection.cold().context_us;
    measured.record.cold.connect_us = connection.cold().connect_us;
    measured.record.lanes = connection.lanes();
    context.report_case(planned.index, measured.record, measured.checks.verified,
                        measured.checks.error, progress);
  }
  if (one_way) one_way->close();
  connection.close();
}

// Of this rank, one for each round.
std::vector<Pair> pairs_of(RankContext& context, const Parameters& p) {
  auto& rendezvous = context.rendezvous();
  std::vector<Pair> pairs;
  if (p.pairs == Pairs::neighbours || rendezvous.size() == 1) {
    pairs.emplace_back(rendezvous);
    return pairs;
  }
  for (auto round = context.plan().at("first_turn").get<std::size_t>(); round < p.rounds();
       ++round) {
    pairs.emplace_back(rendezvous, round);
  }
  return pairs;
}

// All ranks do as rank 0, although a wrapper may give each another UCX.
bool ucx_counts(Rendezvous& rendezvous) {
  constexpr const char* key = "counts";
  if (rendezvous.rank() == 0) rendezvous.put(key, {UcxWorker::can_count()}, {});
  return rendezvous.get(key, {}).front() != 0;
}

// After everything is measured: a connection that ends takes mappings of GPU memory with it that
// others of its process would have used again (UCX 1.22), and theirs would then be cold again.
void measure_more(RankContext& context, Pair& pair,
                  const std::vector<PlannedCase<Parameters>>& cases,
                  const std::vector<CaseRange>& ranges, PairMemory& memory) {
  std::map<std::size_t, Json> rows;  // for path.protocols, by the case's index
  // A program that runs beside this one in a duet does something else.
  if (!ranges.empty() && context.duet() == nullptr) {
    rows = measure_forced(context, pair, ranges, memory);
  }
  const bool counts = context.plan().at("launch") == 0 &&
                      cases.front().parameters.comm == CommKind::ucx &&
                      ucx_counts(context.rendezvous());
  for (const auto& [index, parameters] : cases) {
    if (!counts) break;
    context.rendezvous().barrier({});
    auto [send, receive] = memory.buffers(parameters.buffer_bytes());
    const auto counted =
        count_protocols(context, pair, parameters, send, receive, memory.form_of(parameters),
                        fmt::format("counting, case {}", index));
    auto& of_case = rows.try_emplace(index, Json::array()).first->second;
    of_case.insert(of_case.end(), counted.begin(), counted.end());
  }
  if (!pair.leads()) return;
  for (const auto& [index, of_case] : rows) {
    context.report_protocols(index, pair.lead(), of_case);
  }
}

}  // namespace

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  std::uint64_t largest = 0;
  for (const auto& planned : cases) {
    largest = std::max(largest, planned.parameters.buffer_bytes());
  }
  context.rendezvous().phase("allocating buffers");
  PairMemory memory(cases.front().parameters, context.rendezvous().rank_on_machine(), largest);
  auto pairs = pairs_of(context, cases.front().parameters);
  std::vector<CaseRange> ranges;
  for (auto begin = cases.begin(); begin != cases.end();) {
    const auto end = std::find_if(begin, cases.end(), [&](const PlannedCase<Parameters>& planned) {
      return name_of_connection(planned.parameters) != name_of_connection(begin->parameters);
    });
    // All cases of a launch have as many rounds.
    for (auto& pair : pairs) {
      const bool first = begin == cases.begin() && &pair == pairs.data();
      run_connection(context, pair, {begin, end}, memory, first, ranges);
    }
    begin = end;
  }
  measure_more(context, pairs.front(), cases, ranges, memory);
}

}  // namespace ucxbench::pingpong
