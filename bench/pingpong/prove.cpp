#include "bench/pingpong/prove.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/comm/proof.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::pingpong {
namespace {

// Enough that what else passes a counter meanwhile does not matter, and no more than a few
// milliseconds over the slowest network.
constexpr std::uint64_t payload_wanted = std::uint64_t{512} * 1024;
constexpr std::uint64_t most_messages = 4096;

std::uint64_t messages_of(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>(payload_wanted / std::max<std::uint64_t>(bytes, 1), 2,
                                   most_messages);
}

void use(const Bench& bench, const Parameters& p, int window, bool many_sends) {
  bench.loops.use({bench.send.data(), bench.receive.data(), p.bytes, window, many_sends});
}

// What the lead sends while the follower is ready for it, until that has received it.
template <typename Send>
auto in_step(const Bench& bench, Send send) {
  bench.pair.from_follow("ready", bench.progress);
  const auto result = send();
  bench.pair.from_follow("received", bench.progress);
  return result;
}

Json protocol(const Parameters& p, const char* use, const MessagePath& path) {
  return {{"range", exact_size(p.bytes)},
          {"use", use},
          {"protocol", path.protocol},
          {"device", fmt::format("{}", fmt::join(path.lanes, ", "))},
          {"count", 1}};
}

Json labels(const Bench& bench, const std::vector<std::string>& lanes) {
  Json all = Json::array();
  if (bench.same_gpu) all.push_back("same-gpu");
  // What the tests' own driver calls its devices (ci/cuda-emulator).
  if (bench.gpu && bench.gpu->name == "Emulated GPU") all.push_back("emulated-gpu");
  const bool rxe = std::any_of(lanes.begin(), lanes.end(), [](const std::string& lane) {
    return lane.find("/rxe") != std::string::npos;
  });
  if (rxe) all.push_back("soft-roce");
  return all;
}

}  // namespace

Json prove(const Bench& bench, const Parameters& p, const std::vector<std::string>& lanes,
           bool count) {
  auto& rendezvous = bench.pair.rendezvous();
  rendezvous.phase(fmt::format("{} {}: proof", to_string(p.api), spaced_size(p.bytes)));
  Evidence evidence{.lanes = lanes, .path = {}, .moved = {}, .payload_bytes = 0};
  Json protocols = Json::array();
  for (const bool many : {false, true}) {
    if (many ? !p.bandwidth : !p.latency) continue;
    use(bench, p, 1, many);
    const auto path = parse_request_info(in_step(bench, [&] { return bench.loops.described(); }));
    protocols.push_back(protocol(p, many ? "bandwidth" : "latency", path));
    // Where the two differ, the one that is said last says nothing about the other.
    evidence.path =
        protocols.size() == 1 || path.lanes == evidence.path.lanes ? path : MessagePath{};
  }

  if (count) {
    use(bench, p, p.window, p.bandwidth);
    const auto messages = messages_of(p.bytes);
    for (int lead = 0; lead < rendezvous.size(); lead += 2) {
      rendezvous.barrier(bench.progress);
      if (lead != bench.pair.lead()) continue;
      const auto before = read_counters();
      in_step(bench, [&] { return bench.loops.one_way(messages); });
      evidence.moved = moved(before, read_counters());
      evidence.payload_bytes = messages * p.bytes;
    }
    rendezvous.barrier(bench.progress);
  }
  if (!bench.pair.leads()) return Json::object();

  const auto verdict = judge(TransportSet::of(p.transports), evidence);
  Json path = {{"protocols", protocols},
               {"carried_by", verdict.carried},
               {"verdict", to_string(verdict.carrier)},
               {"why", verdict.why},
               {"labels", labels(bench, lanes)}};
  if (count) {
    path["bytes_by_counter"] = evidence.moved;
    path["payload_bytes"] = evidence.payload_bytes;
  }
  return path;
}

}  // namespace ucxbench::pingpong
