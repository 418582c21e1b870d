#include "bench/pingpong/prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/pingpong/expected.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/units.hpp"
#include "harness/run/proof_record.hpp"

namespace ucxbench::pingpong {
namespace {

void use(const Bench& bench, const Parameters& p, int window, bool many_sends) {
  bench.loops.use(bench.buffers(p.bytes, window, many_sends));
}

// What the lead sends while the follower is ready for it, until that has received it.
template <typename Send>
auto in_step(Pair& pair, const Rendezvous::Progress& progress, Send send) {
  pair.from_follow("ready", progress);
  const auto result = send();
  pair.from_follow("received", progress);
  return result;
}

// Whether operations need the target's CPU: whether one is done, flush included, while the target
// sleeps and makes no progress. On both sides. The lead counts from before the target falls asleep:
// one that took less was done before it woke. One that took longer may have met a slow moment, so
// it has another chance, with more time.
bool needs_target(const Bench& bench, const Parameters& p, double expected_us) {
  auto& pair = bench.pair;
  const auto ms = static_cast<std::int64_t>(20 + std::min(4e-3 * expected_us, 1000.0));
  const std::chrono::milliseconds once(pair.from_lead(ms, bench.progress).get<std::int64_t>());
  use(bench, p, 1, false);
  bench.loops.meet();
  bool needed = true;
  for (const int times : {1, 5}) {
    const auto asleep = times * once;
    const auto begun = std::chrono::steady_clock::now();
    pair.from_lead("sleep", bench.progress);
    // Without progress, and none after it.
    pair.from_follow("asleep", pair.leads() ? bench.progress : Rendezvous::Progress());
    if (pair.leads()) {
      bench.loops.one_sided()->complete_one();
      needed = std::chrono::steady_clock::now() - begun >= asleep;
    } else {
      std::this_thread::sleep_for(asleep);
      activity().bump();
    }
    needed = pair.from_lead(needed, bench.progress).get<bool>();
    if (!needed) break;
  }
  return needed;
}

}  // namespace

Json prove(const Bench& bench, const Parameters& p, const Connection& connection,
           const GpusOfRanks& gpus, bool first, double expected_us) {
  const auto lanes = connection.lanes();
  auto& rendezvous = bench.pair.rendezvous();
  rendezvous.phase(fmt::format("{} {}: proof", to_string(p.api), spaced_size(p.bytes)));
  Evidence evidence{.lanes = lanes,
                    .path = {},
                    .device = device_name(p.comm),
                    .moved = {},
                    .payload_bytes = 0,
                    .message_bytes = static_cast<double>(p.bytes)};
  Json protocols = Json::array();
  const bool says_how = p.comm == CommKind::ucx;
  for (const bool many : {false, true}) {
    if (!says_how || (many ? !p.bandwidth : !p.latency)) continue;
    use(bench, p, 1, many);
    const auto path = parse_request_info(
        in_step(bench.pair, bench.progress, [&] { return bench.loops.described(); }));
    auto record = protocol_record(p.bytes, many ? "bandwidth" : "latency", path);
    if (is_one_sided(p.api)) record["operation"] = to_string(p.api);
    if (p.expected && bench.pair.leads()) {
      add_expected(record, connection.device(), p, path, many);
    }
    protocols.push_back(std::move(record));
    // Where the two differ, the one that is said last says nothing about the other.
    evidence.path =
        protocols.size() == 1 || path.lanes == evidence.path.lanes ? path : MessagePath{};
  }

  use(bench, p, p.window, p.bandwidth);
  const auto messages = counted_messages(p.bytes);
  // Of neighbours only every second rank leads.
  const int step = p.pairs == Pairs::neighbours ? 2 : 1;
  for (int lead = 0; lead < rendezvous.size(); lead += step) {
    rendezvous.barrier(bench.progress);
    if (lead != bench.pair.lead()) continue;
    const auto before = read_counters();
    in_step(bench.pair, bench.progress, [&] { return bench.loops.one_way(messages); });
    const auto own = counted_here(moved_since(before));
    evidence.moved = counted_by_all({own, bench.pair.from_follow(own, bench.progress)});
    evidence.payload_bytes = messages * p.bytes * static_cast<std::uint64_t>(p.threads);
  }
  rendezvous.barrier(bench.progress);
  Json target_progress;
  if (first && is_one_sided(p.api) && bench.pair.role() != Role::alone) {
    target_progress = needs_target(bench, p, expected_us) ? "needed" : "not needed";
  }
  if (!bench.pair.leads()) return Json::object();
  auto path = path_record(
      TransportSet::of(p.transports), evidence, protocols,
      gpus.labels(bench.pair.lead(), bench.pair.follow(), lanes, GpusOfRanks::Others::work));
  if (!target_progress.is_null()) path["target_progress"] = target_progress;
  if (p.expected) path["speed_unknown"] = lanes_of_unknown_speed(lanes);
  return path;
}

Json count_protocols(RankContext& context, Pair& pair, const Parameters& p, Buffer& send,
                     Buffer& receive, const MessageForm& form, const std::string& purpose) {
  Connection connection(context, pair, p, {.purpose = purpose, .counts = true});
  context.rendezvous().phase(
      fmt::format("{} {}: counting", to_string(p.api), spaced_size(p.bytes)));
  auto& loops = connection.loops();
  expose(loops, p.api, send, receive);
  loops.use({.send = send.data(),
             .receive = receive.data(),
             .bytes = p.bytes,
             .window = p.window,
             .many_sends = p.bandwidth,
             .requests = true,
             .send_kind = send.kind(),
             .receive_kind = receive.kind(),
             .form = form,
             .room = std::min(send.size(), receive.size())});
  in_step(pair, [&] { loops.turn(); }, [&] { return loops.one_way(counted_messages(p.bytes)); });
  Json own = Json::array();
  for (const auto& [operation, range, protocol, device, count] : connection.close()) {
    own.push_back({{"range", range},
                   {"use", "counted"},
                   {"rank", context.rendezvous().rank()},
                   {"operation", operation},
                   {"protocol", protocol},
                   {"device", device},
                   {"count", count}});
  }
  const auto of_follow = pair.from_follow(own, {});
  if (pair.role() == Role::lead) own.insert(own.end(), of_follow.begin(), of_follow.end());
  return own;
}

}  // namespace ucxbench::pingpong
