// The rank side of the ping-pong benchmark: two connections per API, progress mode and launch, and
// every size over them.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/pingpong/measure.hpp"
#include "bench/pingpong/memory.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "bench/pingpong/prove.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/resources.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/failure.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {
namespace {

struct PlannedCase {
  std::size_t index;
  Parameters parameters;
};

ucp_ep_h connect(const UcxWorker& worker, Pair& pair, const Parameters& parameters,
                 const std::string& purpose, const Rendezvous::Progress& progress) {
  const auto name =
      fmt::format("{}/{}/{}", to_string(parameters.api), parameters.progress.name(), purpose);
  if (parameters.connect_by == ConnectBy::sockaddr && pair.role() != Role::alone) {
    return connect_by_sockaddr(worker, pair.rendezvous(), pair.peer(), name, parameters.net_devices,
                               progress);
  }
  publish_address(worker, pair.rendezvous(), name, progress);
  return connect_to_address(worker, pair.rendezvous(), pair.peer(), name, progress);
}

/// What a connection is for. On `one_way` the follower never sends: one byte is enough to change
/// how the kernel acknowledges on a TCP connection from then on (docs/METHOD.md).
enum class Traffic { both_ways, one_way };

/// A worker and its connection, with what it cost to make them.
class Connection {
 public:
  Connection(RankContext& context, Pair& pair, const Parameters& parameters, Traffic traffic)
      : pair_(pair) {
    const std::string purpose = traffic == Traffic::both_ways ? "both ways" : "one way";
    auto& rendezvous = context.rendezvous();
    const auto& clock = context.clock();
    rendezvous.phase(fmt::format("{}: starting UCX", to_string(parameters.api)));
    const auto start = clock.ticks();
    worker_.emplace(parameters.api, parameters.progress);
    cold_.context_us = clock.us(clock.ticks() - start);

    rendezvous.phase(fmt::format("{}: connecting by {}, for traffic {}", to_string(parameters.api),
                                 to_string(parameters.connect_by), purpose));
    progress_ = [this] { ucp_worker_progress(worker_->handle()); };
    rendezvous.barrier(progress_);
    const auto connecting = clock.ticks();
    endpoint_.emplace(connect(*worker_, pair, parameters, purpose, progress_));
    loops_ = make_loops(parameters.api, parameters.progress, pair.role(), clock, worker_->handle(),
                        endpoint_->handle());
    if (traffic == Traffic::both_ways) loops_->meet();
    cold_.connect_us = clock.us(clock.ticks() - connecting);
  }

  /// A barrier first: nobody closes while the other still sends.
  void close() {
    auto& rendezvous = pair_.rendezvous();
    rendezvous.phase("closing");
    rendezvous.barrier([this] { loops_->turn(); });
    loops_.reset();
    endpoint_->close(progress_);
    rendezvous.barrier(progress_);
  }

  UcxWorker& worker() { return *worker_; }
  Loops& loops() { return *loops_; }
  const Cold& cold() const { return cold_; }
  std::vector<std::string> lanes() const { return endpoint_->lanes(); }

 private:
  Pair& pair_;
  Cold cold_;
  Rendezvous::Progress progress_;
  std::optional<UcxWorker> worker_;
  std::optional<UcxEndpoint> endpoint_;
  std::unique_ptr<Loops> loops_;
};

void report_rank(RankContext& context, Connection& connection, const Parameters& parameters,
                 const PairMemory& memory) {
  context.report_rank({{"net_devices", parameters.net_devices},
                       {"device", memory.device()},
                       {"ucx_effective", connection.worker().effective()}},
                      [&] { connection.loops().turn(); });
}

bool same_gpu(Pair& pair, const std::optional<CudaDevice>& gpu,
              const Rendezvous::Progress& progress) {
  const auto own = gpu ? gpu->pci : "";
  const auto other = pair.from_follow(own, progress);
  return !own.empty() && other == own && pair.role() != Role::alone;
}

/// False when the user asked to stop.
bool run_connection(RankContext& context, Pair& pair, const std::vector<PlannedCase>& cases,
                    PairMemory& memory, bool first) {
  const auto& common = cases.front().parameters;
  Connection connection(context, pair, common, Traffic::both_ways);
  std::optional<Connection> one_way;
  if (common.bandwidth) one_way.emplace(context, pair, common, Traffic::one_way);
  auto& one_way_loops = one_way ? one_way->loops() : connection.loops();
  const auto progress = [&] {
    connection.loops().turn();
    if (one_way) one_way_loops.turn();
  };
  if (first) report_rank(context, connection, common, memory);
  const bool one_gpu = same_gpu(pair, memory.gpu(), progress);
  bool go_on = true;
  for (const auto& planned : cases) {
    go_on = context.rendezvous().barrier(progress);
    if (!go_on) break;
    const auto& parameters = planned.parameters;
    auto [send, receive] = memory.buffers(parameters.bytes);
    const Bench bench{pair,    connection.loops(), one_way_loops, context.clock(), send,
                      receive, progress,           memory.gpu(),  one_gpu};
    auto measured = measure(bench, parameters);
    const auto lanes = connection.lanes();
    const auto launch = context.plan().at("launch").get<int>();
    // Another launch configures UCX just so; counting takes its turn by pairs.
    measured.record.path = prove(bench, parameters, lanes, launch == 0);
    if (!pair.leads()) continue;
    measured.record.launch = launch;
    measured.record.cold.context_us = connection.cold().context_us;
    measured.record.cold.connect_us = connection.cold().connect_us;
    measured.record.lanes = lanes;
    context.report_case(planned.index, measured.record, measured.verified, measured.error,
                        progress);
  }
  if (one_way) one_way->close();
  connection.close();
  return go_on;
}

void run_rank(RankContext& context) {
  Pair pair(context.rendezvous());
  std::vector<PlannedCase> cases;
  std::uint64_t largest = 0;
  for (const auto& entry : context.plan().at("cases")) {
    cases.push_back(
        {entry.at("index").get<std::size_t>(), parse_parameters(entry.at("parameters"))});
    largest = std::max(largest, cases.back().parameters.bytes);
  }
  context.rendezvous().phase("allocating buffers");
  PairMemory memory(cases.front().parameters, context.rendezvous().rank(), largest);
  for (auto begin = cases.begin(); begin != cases.end();) {
    const auto end = std::find_if(begin, cases.end(), [&](const PlannedCase& planned) {
      return planned.parameters.api != begin->parameters.api ||
             planned.parameters.progress.name() != begin->parameters.progress.name();
    });
    const bool first = begin == cases.begin();
    if (!run_connection(context, pair, {begin, end}, memory, first)) return;
    begin = end;
  }
}

[[maybe_unused]] const bool registered = register_benchmark(
    {"pingpong", "latency and bandwidth between two ranks, over sizes", run_rank});

}  // namespace
}  // namespace ucxbench::pingpong
