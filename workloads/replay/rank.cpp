// The rank side of replay: each rank asks the first supervisor, which has read the log, for its
// part.

#include "workloads/replay/rank.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "harness/core/announced.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/or_null.hpp"
#include "harness/run/wire.hpp"
#include "workloads/common/rank.hpp"
#include "workloads/replay/replay.hpp"

namespace ucxbench::replay {
namespace {

constexpr std::size_t messages_of_a_part = 16384;  // 768 KiB: the supervisor serves others too

Json about_pairs(const Traffic& traffic) {
  constexpr double nearly_all = 0.99;
  auto pairs = Json::array();
  for (const auto& [ends, pair] : traffic.pairs) {
    Json about = {{"src", ends.first},
                  {"dst", ends.second},
                  {"p50_bytes", pair.size_at(0.5)},
                  {"p99_bytes", pair.size_at(nearly_all)}};
    if (const auto moved = pair.timed.moved()) {
      about["moved"] = {{"bytes", moved->bytes}, {"ns", moved->ns}};
    }
    pairs.push_back(std::move(about));
  }
  return pairs;
}

/// What a rank has of the recorded run: its own part, and rank 0 what there is of each pair.
struct Told {
  Script script;
  std::map<std::pair<int, int>, Json> pairs{};
};

void take_messages(std::vector<Transfer>& messages, std::size_t count,
                   const Rendezvous::Bytes& bytes) {
  if (bytes.size() != count * sizeof(Transfer)) refuse_announcement(0);
  const auto at = messages.size();
  messages.resize(at + count);
  std::memcpy(&messages[at], bytes.data(), bytes.size());
}

Told ask_for_script(RankContext& context, std::size_t index, const Parameters& p) {
  const Rendezvous::Progress no_progress;
  const auto head = from_bytes(context.data(index, 0, no_progress));
  Told told{.script = {.messages = {}, .end_ns = head.at("end_ns").get<std::uint64_t>()}};
  const auto count = head.at("messages").get<std::uint64_t>();
  check_at_most({.count = count, .unit = "messages of a log", .rank = 0}, 2 * p.messages);
  auto& messages = told.script.messages;
  for (std::size_t part = 1; messages.size() < count; ++part) {
    const auto next = std::min<std::size_t>(count - messages.size(), messages_of_a_part);
    take_messages(messages, next, context.data(index, part, no_progress));
  }
  for (const auto& pair : head.value("pairs", Json::array())) {
    told.pairs[{pair.at("src").get<int>(), pair.at("dst").get<int>()}] = pair;
  }
  return told;
}

/// What the log has of a pair, beside what the replay says of it.
void describe_recorded(const Told& told, double clock_step_ns, Json& pair) {
  const auto found = told.pairs.find({pair.at("src").get<int>(), pair.at("dst").get<int>()});
  if (found == told.pairs.end()) return;
  for (const auto* name : {"p50_bytes", "p99_bytes"}) pair[name] = found->second.at(name);
  const auto moved = found->second.find("moved");
  pair["recorded_GBps"] =
      moved == found->second.end()
          ? Json()
          : number_or_null(TimedMessages::Moved{moved->at("bytes").get<std::uint64_t>(),
                                                moved->at("ns").get<std::uint64_t>()}
                               .goodput_GBps(clock_step_ns));
}

}  // namespace

std::optional<Rendezvous::Bytes> part_of_script(const Traffic& traffic, int rank,
                                                std::size_t part) {
  const auto& script = traffic.ranks.at(static_cast<std::size_t>(rank));
  if (part == 0) {
    Json head = {{"messages", script.messages.size()}, {"end_ns", script.end_ns}};
    if (rank == 0) head["pairs"] = about_pairs(traffic);
    return to_bytes(head);
  }
  const auto messages = std::span(script.messages);
  const auto parts = (messages.size() + messages_of_a_part - 1) / messages_of_a_part;
  if (part > parts) return std::nullopt;
  const auto begin = (part - 1) * messages_of_a_part;
  const auto bytes =
      std::as_bytes(messages.subspan(begin, std::min(messages.size() - begin, messages_of_a_part)));
  Rendezvous::Bytes copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

void run_rank(RankContext& context) {
  const auto cases = context.cases<Parameters>();
  const auto run_cases = [&](Communicator& comm, WorkloadMemory& memory) {
    for (const auto& [index, p] : cases) {
      context.rendezvous().phase("reading the log");
      auto recorded = ask_for_script(context, index, p);
      Replay replay(comm, memory, p, std::move(recorded.script), context.crowded());
      measure_workload(
          context, comm, index, p, Replay::phases, p.traffic_bytes,
          {.received = replay.received(),
           .alone = replay.exchange_alone(),
           .run = [&](std::uint32_t number, TransferLog* log) { return replay.run(number, log); },
           .verify = [&] { return replay.verify(); },
           .describe_pair =
               [&](Json& pair) { describe_recorded(recorded, context.clock().step_ns(), pair); }});
    }
  };
  run_workload(context, cases.front().parameters, run_cases);
}

}  // namespace ucxbench::replay
