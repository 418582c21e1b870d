#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/comm/worker.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// An endpoint to one peer, error mode NONE as in ucx_perftest unless it is asked for PEER. One
/// that is not closed (after a failure, when the peer may be gone and error mode NONE refuses to
/// force it) is freed with its worker.
class UcxEndpoint {
 public:
  explicit UcxEndpoint(ucp_ep_h endpoint) : endpoint_(endpoint) {}
  UcxEndpoint(const UcxEndpoint&) = delete;
  UcxEndpoint& operator=(const UcxEndpoint&) = delete;

  ucp_ep_h handle() const { return endpoint_; }

  /// Configured lanes, "tcp/lo", in UCX's order without repetition: what messages may take, not
  /// what one took. Complete once a message has gone each way.
  std::vector<std::string> lanes() const;

  /// What UCX prints of it and of its worker: for parse_protocol_ranges.
  std::string printed_info(ucp_worker_h worker) const;

  /// What ucp_ep_evaluate_perf expects a message to take: latency and size by the fastest lane,
  /// whatever protocols do. Empty where UCX does not say.
  std::optional<double> evaluated_us(std::uint64_t bytes) const;

  /// Flushes and closes, unless the peer has closed already, while `progress` is called. Both sides
  /// must have passed a barrier, and must go on progressing until both are closed.
  void close(const Rendezvous::Progress& progress);

  /// The same of several endpoints at once: each begins, then there is progress until each is over.
  void begin_close();
  /// What was sent so far has reached the peer's side, and the endpoint is connected, when it is
  /// over.
  void begin_flush();
  /// What was begun last.
  bool is_over();

 private:
  ucp_ep_h endpoint_;
  ucs_status_ptr_t under_way_ = nullptr;  ///< what was begun last
};

/// The worker addresses of all ranks, by rank, and UCX's version behind each; all ranks call it.
std::vector<Rendezvous::Bytes> exchange_addresses(const UcxWorker& worker, Rendezvous& rendezvous,
                                                  const Rendezvous::Progress& progress);
/// The one of `peer`, which calls it too. `name` distinguishes several workers of one launch.
Rendezvous::Bytes exchange_address(const UcxWorker& worker, Rendezvous& rendezvous, int peer,
                                   const std::string& name, const Rendezvous::Progress& progress);
/// `peer`'s address as exchanged; `rank` is this one. Throws Failure, with ErrorMode::peer
/// Exit::cannot_run where no transport that is allowed has it.
ucp_ep_h connect_to_address(const UcxWorker& worker, const Rendezvous::Bytes& address, int rank,
                            int peer, ErrorMode errors = ErrorMode::none);

/// A UCP listener on the lower rank; its port goes through the rendezvous. It listens on the first
/// address of `net_devices` ("lo,eth0"; any other text: loopback), or of the RDMA ports among them
/// where UCX connects by rdmacm.
ucp_ep_h connect_by_sockaddr(const UcxWorker& worker, Rendezvous& rendezvous, int peer,
                             const std::string& name, const std::string& net_devices,
                             const Rendezvous::Progress& progress,
                             ErrorMode errors = ErrorMode::none);

}  // namespace ucxbench
