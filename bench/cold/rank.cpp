// The rank side of the cold-cost benchmark: rank 0 connects to each of the others, then plays every
// case with one peer after the other.

#include "bench/cold/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "bench/cold/measure.hpp"
#include "bench/cold/messages.hpp"
#include "bench/cold/parameters.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/registration.hpp"
#include "harness/core/units.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench::cold {
namespace {

constexpr std::size_t kept_samples = 256;  // in the results file, per launch and metric

struct Connection {
  Connection(const UcxWorker& worker, ucp_ep_h handle, PollOrEventProgress& progress)
      : endpoint(handle), link(worker.handle(), handle, progress) {}

  UcxEndpoint endpoint;
  Messages::Link link;
  double connect_us = 0;
};

class Rank {
 public:
  Rank(RankContext& context, std::vector<PlannedCase<Parameters>> cases)
      : context_(context),
        rendezvous_(context.rendezvous()),
        clock_(context.clock()),
        cases_(std::move(cases)) {
    rendezvous_.phase("allocating buffers");
    if (std::ranges::any_of(kinds(), needs_cuda)) {
      gpu_.emplace(gpu_of_rank(common().devices, rendezvous_.rank_on_machine()));
    }
    known_.emplace(sends() ? common().sent_from() : common().received_into(),
                   std::ranges::max(cases_, {}, bytes_of).parameters.bytes);
  }

  void run() {
    rendezvous_.phase("starting UCX");
    const auto start = clock_.ticks();
    worker_.emplace(Api::tag, common().progress);
    context_us_ = clock_.us(clock_.ticks() - start);
    progress_.emplace(worker_->handle(), common().progress);
    sleeper_.emplace(worker_->handle(), common().progress.kind == ProgressMode::Kind::event);
    for (int peer = 1; peer < rendezvous_.size(); ++peer) connect(peer);
    context_.report_rank(
        device_of(gpu_),
        {{"net_devices", common().net_devices}, {"ucx_effective", worker_->effective()}}, waiting_);
    register_once();
    for (const auto& planned : cases_) {
      rendezvous_.barrier(waiting_);
      if (rendezvous_.rank() <= planned.parameters.peers) measure(planned);
    }
    close();
  }

 private:
  static std::uint64_t bytes_of(const PlannedCase<Parameters>& planned) {
    return planned.parameters.bytes;
  }
  const Parameters& common() const { return cases_.front().parameters; }
  std::set<MemoryKind> kinds() const { return {common().sent_from(), common().received_into()}; }
  bool sends() const { return rendezvous_.rank() == 0; }

  // What UCX sets up with a process's first registration is no cost of the first case's buffer,
  // which would take ten times what the same one takes later.
  void register_once() {
    for (const auto kind : kinds()) {
      Buffer other(kind, 1);
      const Registration registration(*worker_, {other.data(), other.size()});
    }
  }

  // The others wait at the barrier meanwhile: each connection is made by itself.
  void connect(int peer) {
    rendezvous_.phase(fmt::format("connecting ranks 0 and {}", peer));
    rendezvous_.barrier(waiting_);
    rendezvous_.barrier(polling_);  // both are awake
    if (!sends() && rendezvous_.rank() != peer) return;
    const auto start = clock_.ticks();
    const auto name = fmt::format("cold/{}", peer);
    const int other = sends() ? peer : 0;
    const auto address = exchange_address(*worker_, rendezvous_, other, name, polling_);
    auto* handle = connect_to_address(*worker_, address, rendezvous_.rank(), other);
    auto& made =
        *connections_.emplace_back(std::make_unique<Connection>(*worker_, handle, *progress_));
    made.link.signal();
    made.link.await_signal();
    made.connect_us = clock_.us(clock_.ticks() - start);
  }

  void measure(const PlannedCase<Parameters>& planned) {
    const auto& p = planned.parameters;
    rendezvous_.phase(
        fmt::format("{}, buffers {}: allocating", spaced_size(p.bytes), to_string(p.buffers)));
    CaseMemory memory(p, *known_, *worker_, clock_);
    for (int peer = 1; peer <= p.peers; ++peer) {
      if (!sends() && rendezvous_.rank() != peer) continue;
      take_turn(peer, planned.index);
      rendezvous_.phase(fmt::format("{}, buffers {}: messages from rank 0 to {}",
                                    spaced_size(p.bytes), to_string(p.buffers), peer));
      auto& connection =
          sends() ? *connections_[static_cast<std::size_t>(peer) - 1] : *connections_.front();
      Messages messages(connection.link, clock_, sends(), peer);
      auto figures = memory.measure(messages);
      const auto path = prove(planned, peer, messages, memory, connection);
      const auto key = fmt::format("outcome/{}/{}", planned.index, peer);
      if (sends()) {
        report(planned, peer, std::move(figures), path, connection,
               parse_checks(from_bytes(rendezvous_.get(key, waiting_))));
      } else {
        rendezvous_.put(key, to_bytes(to_json(messages.checks())), waiting_);
      }
    }
  }

  // Returns when both are ready.
  void take_turn(int peer, std::size_t index) {
    const auto turn = fmt::format("turn/{}/{}", index, peer);
    const auto ready = fmt::format("ready/{}/{}", index, peer);
    rendezvous_.put(sends() ? turn : ready, {}, waiting_);
    rendezvous_.get(sends() ? ready : turn, waiting_);
  }

  // The pair plays alone, so that counters are its own: those of both ranks' hosts.
  Json prove(const PlannedCase<Parameters>& planned, int peer, Messages& messages,
             CaseMemory& memory, const Connection& connection) {
    const auto& p = planned.parameters;
    Evidence evidence{.lanes = connection.endpoint.lanes(),
                      .path = parse_request_info(messages.described(memory.spare(), p.bytes)),
                      .moved = {},
                      .payload_bytes = 0,
                      .message_bytes = static_cast<double>(p.bytes)};
    const auto before = read_counters();
    const auto count = counted_messages(p.bytes);
    messages.uncounted(memory.spare(), p.bytes, count);
    const auto own = counted_here(moved_since(before));
    const auto key = fmt::format("counted/{}/{}", planned.index, peer);
    if (!sends()) {
      rendezvous_.put(key, to_bytes(own), waiting_);
      return Json::object();
    }
    evidence.moved = counted_by_all({own, from_bytes(rendezvous_.get(key, waiting_))});
    evidence.payload_bytes = count * p.bytes;
    const auto labels = context_.gpus().labels(0, peer, evidence.lanes, GpusOfRanks::Others::wait);
    return path_record(TransportSet::of(p.transports), evidence,
                       Json::array({protocol_record(p.bytes, "message", evidence.path)}), labels);
  }

  void report(const PlannedCase<Parameters>& planned, int peer, Figures figures, const Json& path,
              const Connection& connection, const Checks& checks) {
    const auto& p = planned.parameters;
    LaunchRecord record;
    record.launch = launch();
    record.src = 0;
    record.dst = peer;
    record.iterations = static_cast<std::uint64_t>(p.iterations);
    record.messages = checks.verified.checked;
    record.cold.context_us = context_us_;
    record.cold.connect_us = connection.connect_us;
    for (auto& [metric, us] : figures) {
      record.samples[metric] = make_samples(std::move(us), kept_samples);
    }
    record.lanes = connection.endpoint.lanes();
    record.path = path;
    context_.report_case(planned.index, record, checks.verified, checks.error, waiting_);
  }

  int launch() const { return context_.plan().at("launch").get<int>(); }

  // A barrier first: nobody closes while another still sends.
  void close() {
    rendezvous_.phase("closing");
    rendezvous_.barrier(waiting_);
    for (auto& connection : connections_) connection->endpoint.close(polling_);
    rendezvous_.barrier(waiting_);
  }

  RankContext& context_;
  Rendezvous& rendezvous_;
  const Clock& clock_;
  std::vector<PlannedCase<Parameters>> cases_;
  std::optional<CudaContext> gpu_;
  std::optional<Buffer> known_;
  double context_us_ = 0;
  std::optional<UcxWorker> worker_;
  std::optional<PollOrEventProgress> progress_;
  std::optional<Sleeper> sleeper_;
  Rendezvous::Progress polling_ = [this] { progress_->turn(); };
  /// For whose turn it is not: leaves its processor to those who play.
  Rendezvous::Progress waiting_ = [this] {
    if (progress_once(worker_->handle())) {
      sleeper_->worked();
    } else {
      sleeper_->sleep(rendezvous_.answer_fd());
    }
  };
  std::vector<std::unique_ptr<Connection>> connections_;  ///< rank 0: by peer; else one
};

}  // namespace

void run_rank(RankContext& context) { Rank(context, context.cases<Parameters>()).run(); }

}  // namespace ucxbench::cold
