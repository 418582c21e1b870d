#include "bench/pingpong/prove.hpp"

#include <fmt/format.h>

#include "harness/core/units.hpp"
#include "harness/run/proof_record.hpp"

namespace ucxbench::pingpong {
namespace {

// What the lead sends while the follower is ready for it, until that has received it.
template <typename Send>
auto in_step(const Bench& bench, Send send) {
  bench.pair.from_follow("ready", bench.progress);
  const auto result = send();
  bench.pair.from_follow("received", bench.progress);
  return result;
}

}  // namespace

Json prove(const Bench& bench, const Parameters& p, const std::vector<std::string>& lanes,
           Loops* counted) {
  auto& rendezvous = bench.pair.rendezvous();
  rendezvous.phase(fmt::format("{} {}: proof", to_string(p.api), spaced_size(p.bytes)));
  Evidence evidence{.lanes = lanes, .path = {}, .moved = {}, .payload_bytes = 0};
  Json protocols = Json::array();
  for (const bool many : {false, true}) {
    if (many ? !p.bandwidth : !p.latency) continue;
    bench.loops.use({bench.send.data(), bench.receive.data(), p.bytes, 1, many});
    const auto path = parse_request_info(in_step(bench, [&] { return bench.loops.described(); }));
    protocols.push_back(protocol_record(p.bytes, many ? "bandwidth" : "latency", path));
    // Where the two differ, the one that is said last says nothing about the other.
    evidence.path =
        protocols.size() == 1 || path.lanes == evidence.path.lanes ? path : MessagePath{};
  }

  if (counted != nullptr) {
    counted->use({bench.send.data(), bench.receive.data(), p.bytes, p.window, p.bandwidth, true});
    const auto messages = counted_messages(p.bytes);
    for (int lead = 0; lead < rendezvous.size(); lead += 2) {
      rendezvous.barrier(bench.progress);
      if (lead != bench.pair.lead()) continue;
      const auto before = read_counters();
      in_step(bench, [&] { return counted->one_way(messages); });
      evidence.moved = moved(before, read_counters());
      evidence.payload_bytes = messages * p.bytes;
    }
    rendezvous.barrier(bench.progress);
  }
  if (!bench.pair.leads()) return Json::object();

  return path_record(TransportSet::of(p.transports), evidence, protocols,
                     path_labels(bench.gpu, bench.same_gpu, lanes));
}

void add_uses(Json& path, const Bench& bench, const std::vector<ProtocolUse>& uses) {
  Json own = Json::array();
  for (const auto& [operation, range, protocol, device, count] : uses) {
    own.push_back({{"range", range},
                   {"use", "counted"},
                   {"rank", bench.pair.rendezvous().rank()},
                   {"operation", operation},
                   {"protocol", protocol},
                   {"device", device},
                   {"count", count}});
  }
  const auto of_follow = bench.pair.from_follow(own, bench.progress);
  if (!bench.pair.leads()) return;
  auto& protocols = path["protocols"];
  protocols.insert(protocols.end(), own.begin(), own.end());
  if (bench.pair.role() == Role::alone) return;
  protocols.insert(protocols.end(), of_follow.begin(), of_follow.end());
}

}  // namespace ucxbench::pingpong
