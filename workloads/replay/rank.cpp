// The rank side of replay: rank 0 reads the log and sends each rank its part.

#include "workloads/replay/rank.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "harness/core/announced.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/hash.hpp"
#include "harness/core/or_null.hpp"
#include "workloads/common/rank.hpp"
#include "workloads/replay/replay.hpp"

namespace ucxbench::replay {
namespace {

enum Label : std::uint64_t { size_label, script_label };

/// How many messages, when the rank had ended, and a hash of the messages.
using Head = std::array<std::uint64_t, 3>;

std::uint64_t hash_of(const std::vector<Transfer>& messages) {
  const auto bytes = std::as_bytes(std::span(messages));
  return fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void tell(Communicator& comm, const Traffic& traffic) {
  Batch all;
  std::vector<Head> heads;
  for (const auto& script : traffic.ranks)
    heads.push_back({script.messages.size(), script.end_ns, hash_of(script.messages)});
  for (int rank = 1; rank < comm.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    comm.send(rank, size_label, std::as_bytes(std::span(heads[at])), all);
    comm.send(rank, script_label, std::as_bytes(std::span(traffic.ranks[at].messages)), all);
  }
  comm.wait(all);
}

Script told(Communicator& comm, const Parameters& p) {
  Batch all;
  Head size{};
  comm.receive(0, size_label, std::as_writable_bytes(std::span(size)), all);
  comm.wait(all);
  check_at_most({.count = size[0], .unit = "messages of a log", .rank = 0}, 2 * p.messages);
  Script script{.messages = std::vector<Transfer>(size[0]), .end_ns = size[1]};
  comm.receive(0, script_label, std::as_writable_bytes(std::span(script.messages)), all);
  comm.wait(all);
  if (hash_of(script.messages) != size[2]) refuse_announcement(0);
  return script;
}

Script own_script(Communicator& comm, const Parameters& p) {
  if (comm.rank() != 0) return told(comm, p);
  const auto& traffic = traffic_of(p);
  if (traffic.name != p.traffic) {
    throw Failure(Exit::lost,
                  fmt::format("LOG '{}' has changed: it was {} when the run began, and is {} now",
                              p.log, p.traffic, traffic.name));
  }
  tell(comm, traffic);
  return traffic.ranks.front();
}

/// What the log has of a pair, beside what the replay says of it.
void describe(const Traffic& traffic, double clock_step_ns, Json& pair) {
  const auto found = traffic.pairs.find({pair.at("src").get<int>(), pair.at("dst").get<int>()});
  if (found == traffic.pairs.end()) return;
  constexpr double nearly_all = 0.99;
  pair["p50_bytes"] = found->second.size_at(0.5);
  pair["p99_bytes"] = found->second.size_at(nearly_all);
  pair["recorded_GBps"] = number_or_null(found->second.timed.goodput_GBps(clock_step_ns));
}

}  // namespace

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("reading the log");
      Replay replay(comm, memory, p, own_script(comm, p), context.crowded());
      measure_workload(
          context, comm, index, p, Replay::phases, p.traffic_bytes,
          {.received = replay.received(),
           .alone = replay.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return replay.run(number, log); },
           .verify = [&] { return replay.verify(); },
           .describe_pair =
               [&](Json& pair) { describe(traffic_of(p), context.clock().step_ns(), pair); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::replay
