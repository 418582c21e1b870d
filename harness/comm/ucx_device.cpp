#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>

#include "harness/comm/device.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/one_sided_device.hpp"
#include "harness/comm/progress.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {
namespace {

constexpr unsigned label_bits = 48;

// The sender's rank stands above the label: a worker has many peers.
ucp_tag_t tag_of(int sender, std::uint64_t label) {
  return static_cast<std::uint64_t>(sender) << label_bits | label;
}

/// Tagged messages of one worker, with an endpoint to every other rank.
class UcxDevice final : public OneSidedDevice {
 public:
  UcxDevice(int rank, int size, const CommSetup& setup, std::span<const Api> used)
      : rank_(rank),
        size_(size),
        connect_by_(setup.connect_by),
        net_devices_(setup.net_devices),
        worker_(used, setup.progress),
        endpoints_(static_cast<std::size_t>(size)) {
    const bool sleeps = setup.progress.kind == ProgressMode::Kind::event;
    if (sleeps || setup.takes_turns) sleeper_.emplace(worker_.handle(), sleeps);
  }

  void connect(Rendezvous& rendezvous, const Rendezvous::Progress& progress) override {
    if (connect_by_ == ConnectBy::address) return connect_to_addresses(rendezvous, progress);
    // Pairs in the same order on all ranks, so that nobody waits in a circle.
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      const auto pair = fmt::format("{}-{}", std::min(peer, rank_), std::max(peer, rank_));
      made(peer).emplace(
          connect_by_sockaddr(worker_, rendezvous, peer, pair, net_devices_, progress));
    }
  }

  void send(int to, std::uint64_t label, std::span<const std::byte> bytes,
            Message& message) override {
    auto request = params(message);
    request.cb.send = [](void* done, ucs_status_t status, void* user) {
      ucp_request_free(done);
      end(*static_cast<Message*>(user), status);
    };
    posted(message, ucp_tag_send_nbx(endpoint(to), bytes.data(), bytes.size(), tag_of(rank_, label),
                                     &request));
  }

  void receive(int from, std::uint64_t label, std::span<std::byte> bytes,
               Message& message) override {
    auto request = params(message);
    // With its callback even when it is complete at once: UCX 1.13 tells the length nowhere else.
    request.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    request.cb.recv = [](void* done, ucs_status_t status, const ucp_tag_recv_info_t* info,
                         void* user) {
      auto& received = *static_cast<Message*>(user);
      const bool wrong_length = status == UCS_OK && info->length != received.bytes;
      ucp_request_free(done);
      end(received, wrong_length ? UCS_ERR_MESSAGE_TRUNCATED : status);
    };
    posted(message, ucp_tag_recv_nbx(worker_.handle(), bytes.data(), bytes.size(),
                                     tag_of(from, label), ~ucp_tag_t{0}, &request));
  }

  bool step() override {
    const bool moved = progress_once(worker_.handle());
    check(error_, "a message");
    return moved;
  }

  bool sleep(int also) override { return sleeper_->sleep(also); }
  void worked() override { sleeper_->worked(); }
  void close() override { reset_connections(); }

  std::vector<std::string> lanes(int peer) const override {
    return endpoints_[static_cast<std::size_t>(peer)]->lanes();
  }
  const std::map<std::string, std::string>& effective() const override {
    return worker_.effective();
  }

  const UcxWorker& worker() const override { return worker_; }
  ucp_ep_h endpoint(int peer) const override {
    return endpoints_[static_cast<std::size_t>(peer)]->handle();
  }

 private:
  std::optional<UcxEndpoint>& made(int peer) { return endpoints_[static_cast<std::size_t>(peer)]; }

  // Of each pair one rank connects, and when all have done so the other takes the connection that
  // it has then. Where both do at once, tcp makes two connections and closes one of them; among
  // hundreds of ranks UCX 1.13 breaks down over that ("Endpoint timeout", an assertion on
  // stale_fd).
  void connect_to_addresses(Rendezvous& rendezvous, const Rendezvous::Progress& progress) {
    const auto addresses = exchange_addresses(worker_, rendezvous, progress);
    // Half of the others each, beginning behind this one: no rank is everybody's first.
    const auto connect_half = [&](bool first) {
      for (int distance = 1; distance < size_; ++distance) {
        const auto peer = (rank_ + distance) % size_;
        const bool is_first = 2 * distance < size_ || (2 * distance == size_ && rank_ < peer);
        if (is_first != first) continue;
        const auto at = static_cast<std::size_t>(peer);
        made(peer).emplace(connect_to_address(worker_, addresses[at], rank_, peer));
      }
    };
    connect_half(true);
    for (auto& each : endpoints_) {
      if (each) each->begin_flush();
    }
    for (auto& each : endpoints_) {
      while (each && !each->is_over()) progress();
    }
    rendezvous.barrier(progress);
    connect_half(false);
  }

  ucp_request_param_t params(Message& message) {
    message.device = this;
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    params.datatype = ucp_dt_make_contig(1);
    params.user_data = &message;
    return params;
  }

  static void posted(Message& message, ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) end(message, UCS_PTR_STATUS(request));
  }

  // Of one that is forgotten the device is about to end.
  static void end(Message& message, ucs_status_t status) {
    if (status != UCS_OK) [[unlikely]]
      static_cast<UcxDevice*>(message.device)->error_ = status;
    message.over();
  }

  int rank_, size_;
  ConnectBy connect_by_;
  std::string net_devices_;
  ucs_status_t error_ = UCS_OK;
  UcxWorker worker_;
  std::optional<Sleeper> sleeper_;
  std::deque<std::optional<UcxEndpoint>> endpoints_;  // by rank; none to this one
};

}  // namespace

std::unique_ptr<CommDevice> make_ucx_device(int rank, int size, const CommSetup& setup) {
  constexpr std::array used = {Api::tag};
  return std::make_unique<UcxDevice>(rank, size, setup, used);
}

std::unique_ptr<OneSidedDevice> make_one_sided_device(int rank, int size, const CommSetup& setup) {
  constexpr std::array used = {Api::tag, Api::put};
  return std::make_unique<UcxDevice>(rank, size, setup, used);
}

}  // namespace ucxbench
