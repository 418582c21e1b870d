#include "bench/pingpong/connection.hpp"

#include <fmt/format.h>

#include "bench/pingpong/ucx_loops.hpp"

namespace ucxbench::pingpong {
namespace {

ucp_ep_h connect(const UcxWorker& worker, Pair& pair, const Parameters& parameters,
                 const std::string& purpose, const Rendezvous::Progress& progress) {
  const auto name =
      fmt::format("{}/{}/{}", to_string(parameters.api), parameters.progress.name(), purpose);
  if (parameters.connect_by == ConnectBy::sockaddr && pair.role() != Role::alone) {
    return connect_by_sockaddr(worker, pair.rendezvous(), pair.peer(), name, parameters.net_devices,
                               progress);
  }
  auto& rendezvous = pair.rendezvous();
  const auto address = exchange_address(worker, rendezvous, pair.peer(), name, progress);
  return connect_to_address(worker, address, rendezvous.rank(), pair.peer());
}

}  // namespace

Connection::Connection(RankContext& context, Pair& pair, const Parameters& parameters,
                       const ConnectionUse& use)
    : pair_(pair) {
  auto& rendezvous = context.rendezvous();
  const auto& clock = context.clock();
  rendezvous.phase(fmt::format("{}: starting UCX", to_string(parameters.api)));
  const auto start = clock.ticks();
  worker_.emplace(parameters.api, parameters.progress, use.counts);
  cold_.context_us = clock.us(clock.ticks() - start);

  rendezvous.phase(fmt::format("{}: connecting by {}, for {}", to_string(parameters.api),
                               to_string(parameters.connect_by), use.purpose));
  progress_ = [this] { ucp_worker_progress(worker_->handle()); };
  rendezvous.barrier(progress_);
  const auto connecting = clock.ticks();
  endpoint_.emplace(connect(*worker_, pair, parameters, use.purpose, progress_));
  loops_ = make_ucx_loops(parameters.api, parameters.progress, pair.role(), clock, *worker_,
                          endpoint_->handle(),
                          [this](const auto& own) { return pair_.exchange(own, progress_); });
  if (use.meets) loops_->meet();
  cold_.connect_us = clock.us(clock.ticks() - connecting);
}

std::vector<ProtocolUse> Connection::close() {
  auto& rendezvous = pair_.rendezvous();
  rendezvous.phase("closing");
  // Nobody closes while the other still sends.
  rendezvous.barrier([this] { loops_->turn(); });
  loops_.reset();
  endpoint_->close(progress_);
  rendezvous.barrier(progress_);
  return worker_->end();
}

}  // namespace ucxbench::pingpong
