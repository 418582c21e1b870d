#include "bench/pingpong/connection.hpp"

#include <fmt/format.h>

namespace ucxbench::pingpong {

std::unique_ptr<PairDevice> make_pair_device(const Parameters& parameters, bool counts,
                                             const Variables& settings) {
  switch (parameters.comm) {
    case CommKind::ucx:
      return make_ucx_pair(parameters, counts, settings);
    case CommKind::sockets:
      return make_socket_pair(parameters);
    case CommKind::mpi:
      break;
  }
  return make_mpi_pair();
}

std::string name_of_connection(const Parameters& p) {
  return fmt::format("{}/{}/{} {}/{}/{}", to_string(p.api), p.progress.name(), p.threads,
                     to_string(p.workers), p.endpoints, to_string(p.error_mode));
}

Connection::Connection(RankContext& context, Pair& pair, const Parameters& parameters,
                       const ConnectionUse& use)
    : pair_(pair) {
  auto& rendezvous = context.rendezvous();
  const auto& clock = context.clock();
  rendezvous.phase(
      fmt::format("{}: starting {}", to_string(parameters.api), device_name(parameters.comm)));
  const auto start = clock.ticks();
  device_ = make_pair_device(parameters, use.counts, use.settings);
  cold_.context_us = clock.us(clock.ticks() - start);

  rendezvous.phase(fmt::format("{}: connecting by {}, for {}", to_string(parameters.api),
                               to_string(parameters.connect_by), use.purpose));
  rendezvous.barrier([this] { device_->progress(); });
  const auto connecting = clock.ticks();
  loops_ = device_->connect(pair, clock,
                            fmt::format("{}/{}", name_of_connection(parameters), use.purpose));
  if (use.meets) loops_->meet();
  cold_.connect_us = clock.us(clock.ticks() - connecting);
}

std::vector<ProtocolUse> Connection::close() {
  auto& rendezvous = pair_.rendezvous();
  rendezvous.phase("closing");
  // Nobody closes while the other still sends.
  rendezvous.barrier([this] { loops_->turn(); });
  loops_.reset();
  device_->close();
  rendezvous.barrier([this] { device_->progress(); });
  return device_->end();
}

}  // namespace ucxbench::pingpong
