#include "bench/pingpong/prove.hpp"

#include <fmt/format.h>

#include "bench/pingpong/connection.hpp"
#include "harness/core/units.hpp"
#include "harness/run/proof_record.hpp"

namespace ucxbench::pingpong {
namespace {

void use(const Bench& bench, const Parameters& p, int window, bool many_sends) {
  bench.loops.use({bench.send.data(), bench.receive.data(), p.bytes, window, many_sends});
}

// What the lead sends while the follower is ready for it, until that has received it.
template <typename Send>
auto in_step(Pair& pair, const Rendezvous::Progress& progress, Send send) {
  pair.from_follow("ready", progress);
  const auto result = send();
  pair.from_follow("received", progress);
  return result;
}

}  // namespace

Json prove(const Bench& bench, const Parameters& p, const std::vector<std::string>& lanes,
           bool count) {
  auto& rendezvous = bench.pair.rendezvous();
  rendezvous.phase(fmt::format("{} {}: proof", to_string(p.api), spaced_size(p.bytes)));
  Evidence evidence{
      .lanes = lanes, .path = {}, .device = device_name(p.comm), .moved = {}, .payload_bytes = 0};
  Json protocols = Json::array();
  const bool says_how = p.comm == CommKind::ucx;
  for (const bool many : {false, true}) {
    if (!says_how || (many ? !p.bandwidth : !p.latency)) continue;
    use(bench, p, 1, many);
    const auto path = parse_request_info(
        in_step(bench.pair, bench.progress, [&] { return bench.loops.described(); }));
    protocols.push_back(protocol_record(p.bytes, many ? "bandwidth" : "latency", path));
    // Where the two differ, the one that is said last says nothing about the other.
    evidence.path =
        protocols.size() == 1 || path.lanes == evidence.path.lanes ? path : MessagePath{};
  }

  if (count) {
    use(bench, p, p.window, p.bandwidth);
    const auto messages = counted_messages(p.bytes);
    for (int lead = 0; lead < rendezvous.size(); lead += 2) {
      rendezvous.barrier(bench.progress);
      if (lead != bench.pair.lead()) continue;
      const auto before = read_counters();
      in_step(bench.pair, bench.progress, [&] { return bench.loops.one_way(messages); });
      evidence.moved = moved(before, read_counters());
      evidence.payload_bytes = messages * p.bytes;
    }
    rendezvous.barrier(bench.progress);
  }
  if (!bench.pair.leads()) return Json::object();
  return path_record(TransportSet::of(p.transports), evidence, protocols,
                     path_labels(bench.gpu, bench.same_gpu, lanes));
}

Json count_protocols(RankContext& context, Pair& pair, const Parameters& p, Buffer& send,
                     Buffer& receive, const std::string& purpose) {
  Connection connection(context, pair, p, {.purpose = purpose, .counts = true});
  context.rendezvous().phase(
      fmt::format("{} {}: counting", to_string(p.api), spaced_size(p.bytes)));
  auto& loops = connection.loops();
  loops.use({send.data(), receive.data(), p.bytes, p.window, p.bandwidth, true});
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
