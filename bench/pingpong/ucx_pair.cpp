#include <optional>

#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/ucx_loops.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/worker.hpp"

namespace ucxbench::pingpong {
namespace {

/// A worker with one endpoint.
class UcxPair final : public PairDevice {
 public:
  UcxPair(const Parameters& parameters, bool counts, const Variables& settings)
      : parameters_(parameters), worker_(parameters.api, parameters.progress, counts, settings) {}

  std::unique_ptr<Loops> connect(Pair& pair, const Clock& clock, const std::string& name) override {
    endpoint_.emplace(endpoint_to_peer(pair, name));
    return make_ucx_loops(parameters_.api, parameters_.progress, pair.role(), clock, worker_,
                          endpoint_->handle(),
                          [this, &pair](const auto& own) { return pair.exchange(own, moving_); });
  }
  void progress() override { ucp_worker_progress(worker_.handle()); }
  void close() override { endpoint_->close(moving_); }
  std::vector<ProtocolUse> end() override { return worker_.end(); }

  std::vector<std::string> lanes() const override { return endpoint_->lanes(); }
  std::string printed_info() const override { return endpoint_->printed_info(worker_.handle()); }
  std::optional<double> evaluated_us(std::uint64_t bytes) const override {
    return endpoint_->evaluated_us(bytes);
  }
  const std::map<std::string, std::string>& effective() const override {
    return worker_.effective();
  }

 private:
  ucp_ep_h endpoint_to_peer(Pair& pair, const std::string& name) {
    auto& rendezvous = pair.rendezvous();
    if (parameters_.connect_by == ConnectBy::sockaddr && pair.role() != Role::alone) {
      return connect_by_sockaddr(worker_, rendezvous, pair.peer(), name, parameters_.net_devices,
                                 moving_);
    }
    const auto address = exchange_address(worker_, rendezvous, pair.peer(), name, moving_);
    return connect_to_address(worker_, address, rendezvous.rank(), pair.peer());
  }

  const Parameters& parameters_;
  UcxWorker worker_;
  std::optional<UcxEndpoint> endpoint_;
  Rendezvous::Progress moving_ = [this] { progress(); };
};

}  // namespace

std::unique_ptr<PairDevice> make_ucx_pair(const Parameters& parameters, bool counts,
                                          const Variables& settings) {
  return std::make_unique<UcxPair>(parameters, counts, settings);
}

}  // namespace ucxbench::pingpong
