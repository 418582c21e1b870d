#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/pingpong/crew.hpp"
#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/threads.hpp"
#include "bench/pingpong/ucx_loops.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/failure.hpp"
#include "harness/result/cases.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench::pingpong {
namespace {

Sharing sharing_of(const Parameters& p) {
  if (p.threads == 1) return Sharing::none;
  return p.workers == Workers::shared ? Sharing::worker : Sharing::context;
}

/// A worker, or one for each thread, with as many endpoints as each thread has.
class UcxPair final : public PairDevice {
 public:
  UcxPair(const Parameters& parameters, bool counts, const Variables& settings)
      : parameters_(parameters) {
    workers_.push_back(std::make_unique<UcxWorker>(parameters.api, parameters.progress, counts,
                                                   settings, sharing_of(parameters)));
    if (parameters.header_bytes > 0) check_header(parameters.header_bytes);
    if (sharing_of(parameters) != Sharing::context) return;
    while (workers_.size() < threads()) workers_.push_back(workers_.front()->another());
  }

  std::unique_ptr<Loops> connect(Pair& pair, const Clock& clock, const std::string& name) override {
    const auto each = static_cast<std::size_t>(parameters_.endpoints);
    std::vector<ucp_ep_h> handles;
    for (std::size_t at = 0; at < threads() * each; ++at) {
      const auto own_name = at == 0 ? name : fmt::format("{}, endpoint {}", name, at);
      endpoints_.emplace_back(endpoint_to_peer(pair, worker_of(at / each), own_name));
      handles.push_back(endpoints_.back().handle());
    }
    const auto loops_of = [&](std::size_t at, const LoopThread* thread) {
      return make_ucx_loops(
          parameters_.api, parameters_.progress, pair.role(), clock, worker_of(at),
          std::span(handles).subspan(at * each, each),
          [this, &pair](const auto& own) { return pair.exchange(own, moving_); }, thread);
    };
    if (threads() == 1) return loops_of(0, nullptr);
    auto crew = std::make_shared<Crew>(threads());
    std::vector<std::unique_ptr<Loops>> loops;
    for (std::size_t at = 0; at < threads(); ++at) {
      const LoopThread thread{.number = static_cast<unsigned>(at),
                              .one_worker = workers_.size() == 1,
                              .another_failed = &crew->failed()};
      loops.push_back(loops_of(at, &thread));
    }
    return make_threaded_loops(std::move(crew), std::move(loops), workers_.size() == 1);
  }
  void progress() override {
    for (const auto& worker : workers_) ucp_worker_progress(worker->handle());
  }
  void close() override {
    for (auto& endpoint : endpoints_) endpoint.begin_close();
    while (!std::ranges::all_of(endpoints_, &UcxEndpoint::is_over)) progress();
  }
  std::vector<ProtocolUse> end() override {
    auto uses = workers_.front()->end();
    for (std::size_t at = 1; at < workers_.size(); ++at) {
      for (auto& use : workers_[at]->end()) add(uses, std::move(use));
    }
    return uses;
  }

  std::vector<std::string> lanes() const override {
    std::vector<std::string> lanes;
    for (const auto& endpoint : endpoints_) {
      for (const auto& lane : endpoint.lanes()) add_once(lanes, lane);
    }
    return lanes;
  }
  std::string printed_info() const override {
    return endpoints_.front().printed_info(worker_of(0).handle());
  }
  std::optional<double> evaluated_us(std::uint64_t bytes) const override {
    return endpoints_.front().evaluated_us(bytes);
  }
  const std::map<std::string, std::string>& effective() const override {
    return worker_of(0).effective();
  }

 private:
  // UCX sends a longer one all the same: 1.13 then aborts over sm, and over tcp corrupts it.
  void check_header(int bytes) const {
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    ucxbench::check(ucp_worker_query(worker_of(0).handle(), &attributes), "ucp_worker_query");
    if (static_cast<std::size_t>(bytes) <= attributes.max_am_header) return;
    throw Failure(
        Exit::cannot_run,
        fmt::format("--header {}: UCX takes headers of at most {} B over these transports", bytes,
                    attributes.max_am_header));
  }

  static void add(std::vector<ProtocolUse>& uses, ProtocolUse more) {
    const auto key = [](const ProtocolUse& use) {
      return std::tie(use.operation, use.range, use.protocol, use.device);
    };
    const auto known = std::ranges::find(uses, key(more), key);
    if (known != uses.end()) {
      known->count += more.count;
    } else {
      uses.push_back(std::move(more));
    }
  }

  std::size_t threads() const { return static_cast<std::size_t>(parameters_.threads); }
  UcxWorker& worker_of(std::size_t thread) const {
    return *workers_[workers_.size() == 1 ? 0 : thread];
  }

  ucp_ep_h endpoint_to_peer(Pair& pair, const UcxWorker& worker, const std::string& name) {
    auto& rendezvous = pair.rendezvous();
    if (parameters_.connect_by == ConnectBy::sockaddr && pair.role() != Role::alone) {
      return connect_by_sockaddr(worker, rendezvous, pair.peer(), name, parameters_.net_devices,
                                 moving_, parameters_.error_mode);
    }
    const auto address = exchange_address(worker, rendezvous, pair.peer(), name, moving_);
    return connect_to_address(worker, address, rendezvous.rank(), pair.peer(),
                              parameters_.error_mode);
  }

  const Parameters& parameters_;
  std::vector<std::unique_ptr<UcxWorker>> workers_;
  std::deque<UcxEndpoint> endpoints_;
  Rendezvous::Progress moving_ = [this] { progress(); };
};

}  // namespace

std::unique_ptr<PairDevice> make_ucx_pair(const Parameters& parameters, bool counts,
                                          const Variables& settings) {
  return std::make_unique<UcxPair>(parameters, counts, settings);
}

}  // namespace ucxbench::pingpong
