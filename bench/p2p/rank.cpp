// The rank side of p2p: every rank sends to every other, in the rounds that the case asks for.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/p2p/parameters.hpp"
#include "bench/p2p/schedule.hpp"
#include "bench/p2p/streams.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench::p2p {
namespace {

constexpr std::chrono::microseconds nap{100};
constexpr std::size_t most_at_once = 256;  // pairs in a report: the coordinator serves others too

struct PlannedCase {
  std::size_t index;
  Parameters parameters;
};

/// What a rank knows of its own flows of a case, for rank 0, by the other rank's number: received,
/// {"GBps", "wrong" (words, empty if right)}; sent, {"lanes", "moved", "payload_bytes"}.
struct Facts {
  Json received = Json::object(), sent = Json::object();
};

class Rank {
 public:
  Rank(RankContext& context, const std::vector<PlannedCase>& cases)
      : context_(context), rendezvous_(context.rendezvous()), cases_(cases) {
    rendezvous_.phase("allocating buffers");
    const auto& p = cases_.front().parameters;
    const auto sent_from = parse_memory_kind(p.memory.front());
    const auto received_into = parse_memory_kind(p.memory.back());
    if (needs_cuda(sent_from) || needs_cuda(received_into)) {
      gpu_.emplace(gpu_of_rank(p.devices, rendezvous_.rank()));
    }
    const auto largest = std::ranges::max(cases_, {}, bytes_of).parameters.bytes;
    const auto peers = static_cast<std::size_t>(rendezvous_.size()) - 1;
    MemoryPool senders(sent_from, MemoryPool::room_for({largest}));
    MemoryPool receivers(received_into,
                         MemoryPool::room_for(std::vector<std::size_t>(peers, largest)));
    send_.emplace(senders.take(largest));
    for (std::size_t peer = 0; peer < peers; ++peer) receive_.push_back(receivers.take(largest));
    rendezvous_.phase("connecting");
    comm_.emplace(rendezvous_,
                  Communicator::Setup{.connect_by = p.connect_by,
                                      .net_devices = p.net_devices,
                                      .crowded = context_.plan().at("crowded").get<bool>()});
  }

  void run() {
    context_.report_rank({{"net_devices", cases_.front().parameters.net_devices},
                          {"device", gpu_ ? to_json(gpu_->device()) : Json()},
                          {"ucx_effective", comm_->effective()}},
                         waiting_);
    try {
      for (const auto& planned : cases_) {
        if (!rendezvous_.barrier(waiting_)) break;
        play(planned);
      }
    } catch (const Failure& failure) {
      rendezvous_.abort(failure);
    }
    comm_->close(rendezvous_);
  }

 private:
  static std::uint64_t bytes_of(const PlannedCase& planned) { return planned.parameters.bytes; }
  int launch() const { return context_.plan().at("launch").get<int>(); }
  Buffer& buffer_from(int peer) {
    return receive_[static_cast<std::size_t>(peer < comm_->rank() ? peer : peer - 1)];
  }

  void play(const PlannedCase& planned) {
    const auto& p = planned.parameters;
    Facts facts;
    std::uint64_t number = 0;
    for (const auto& round : rounds_of(p.concurrent, p.ranks)) {
      rendezvous_.phase(fmt::format("{}, {} at once, round {}", spaced_size(p.bytes),
                                    round.size() == 1 ? "one pair" : "several pairs", number));
      std::vector<int> to;
      std::vector<int> from;
      for (const auto& [src, dst] : round) {
        if (src == comm_->rank()) to.push_back(dst);
        if (dst == comm_->rank()) from.push_back(src);
      }
      play_round(planned, number++, to, from, facts);
    }
    gather(planned, facts);
  }

  void play_round(const PlannedCase& planned, std::uint64_t round, const std::vector<int>& to,
                  const std::vector<int>& from, Facts& facts) {
    const auto& p = planned.parameters;
    const auto seed = [&](int src) { return payload_seed(src, p.bytes, round); };
    send_->fill(p.bytes, seed(comm_->rank()));
    Load load{.send = {send_->data(), p.bytes},
              .receive = std::vector<std::span<std::byte>>(static_cast<std::size_t>(p.ranks)),
              .window = p.window,
              .messages = static_cast<std::uint64_t>(p.iterations)};
    for (const auto src : from) {
      buffer_from(src).zero(p.bytes);
      load.receive[static_cast<std::size_t>(src)] = {buffer_from(src).data(), p.bytes};
    }
    const auto once = [&] {
      // The others sleep meanwhile.
      rendezvous_.barrier(waiting_);
      return stream(*comm_, context_.clock(), load, to, from);
    };
    for (int run = 0; run < p.warmup_runs; ++run) once();
    std::map<int, std::vector<double>> rates;
    for (int run = 0; run < p.runs; ++run) {
      for (const auto& [src, GBps] : once()) rates[src].push_back(GBps);
    }
    for (const auto src : from) {
      const auto wrong = buffer_from(src).mismatch(p.bytes, seed(src));
      facts.received[std::to_string(src)] = {
          {"GBps", rates[src]},
          {"wrong", wrong ? fmt::format("wrong data at byte offset {} of {}: rank {} received from "
                                        "rank {}",
                                        *wrong, p.bytes, comm_->rank(), src)
                          : std::string()}};
    }
    // One more stream between two readings of the counters, while nobody else sends.
    Counters counted;
    std::uint64_t payload = 0;
    if (p.concurrent == Concurrent::one && launch() == 0) {
      load.messages = counted_messages(p.bytes);
      const auto before = read_counters();
      once();
      counted = moved(before, read_counters());
      payload = load.messages * p.bytes;
    }
    for (const auto dst : to) {
      facts.sent[std::to_string(dst)] = {
          {"lanes", comm_->lanes(dst)}, {"moved", counted}, {"payload_bytes", payload}};
    }
  }

  void gather(const PlannedCase& planned, const Facts& facts) {
    const Json own = {{"received", facts.received},
                      {"sent", facts.sent},
                      {"gpu", gpu_ ? gpu_->device().pci : ""},
                      {"peak_buffer_bytes", peak_buffer_bytes()}};
    const auto ranks =
        ucxbench::gather(rendezvous_, fmt::format("flows/{}", planned.index), own, waiting_);
    if (comm_->rank() == 0) report(planned, ranks);
  }

  void report(const PlannedCase& planned, const std::vector<Json>& ranks) {
    const auto& p = planned.parameters;
    std::uint64_t peak = 0;
    for (const auto& rank : ranks) {
      peak = std::max(peak, rank.at("peak_buffer_bytes").get<std::uint64_t>());
    }
    std::vector<LaunchRecord> records;
    Verified verified;
    std::string error;
    const auto pairs = rounds_of(Concurrent::all, p.ranks).front();
    for (const auto& [src, dst] : pairs) {
      const auto& sender = ranks[static_cast<std::size_t>(src)];
      const auto& receiver = ranks[static_cast<std::size_t>(dst)];
      records.push_back(record_of(p, src, dst, sender, receiver));
      const auto wrong =
          receiver.at("received").at(std::to_string(src)).at("wrong").get<std::string>();
      ++verified.checked;
      verified.errors += wrong.empty() ? 0 : 1;
      if (error.empty()) error = wrong;
      if (records.size() < most_at_once && Pair{src, dst} != pairs.back()) continue;
      context_.report_case(planned.index, records, verified, error, waiting_, peak);
      records.clear();
      verified = {};
    }
  }

  LaunchRecord record_of(const Parameters& p, int src, int dst, const Json& sender,
                         const Json& receiver) const {
    const auto& sent = sender.at("sent").at(std::to_string(dst));
    auto rates =
        receiver.at("received").at(std::to_string(src)).at("GBps").get<std::vector<double>>();
    LaunchRecord record;
    record.launch = launch();
    record.src = src;
    record.dst = dst;
    record.messages = static_cast<std::uint64_t>(p.iterations) * rates.size();
    record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
    const auto streams = rates.size();
    record.samples["bandwidth_GBps"] = make_samples(std::move(rates), streams);
    record.lanes = sent.at("lanes").get<std::vector<std::string>>();
    const Evidence evidence{.lanes = record.lanes,
                            .path = {},
                            .moved = sent.at("moved").get<Counters>(),
                            .payload_bytes = sent.at("payload_bytes").get<std::uint64_t>()};
    const bool same_gpu = gpu_ && sender.at("gpu") == receiver.at("gpu");
    const auto labels =
        path_labels(gpu_ ? std::optional(gpu_->device()) : std::nullopt, same_gpu, record.lanes);
    record.path = path_record(TransportSet::of(p.transports), evidence, Json::array(), labels);
    return record;
  }

  RankContext& context_;
  Rendezvous& rendezvous_;
  const std::vector<PlannedCase>& cases_;
  std::optional<CudaContext> gpu_;
  std::optional<Buffer> send_;
  std::vector<Buffer> receive_;  ///< by peer, this rank left out
  std::optional<Communicator> comm_;
  /// For whose turn it is not: leaves its processor to those who send.
  Rendezvous::Progress waiting_ = [this] {
    comm_->progress();
    std::this_thread::sleep_for(nap);
  };
};

void run_rank(RankContext& context) {
  std::vector<PlannedCase> cases;
  for (const auto& entry : context.plan().at("cases")) {
    cases.push_back(
        {entry.at("index").get<std::size_t>(), parse_parameters(entry.at("parameters"))});
  }
  Rank(context, cases).run();
}

[[maybe_unused]] const bool registered = register_benchmark(
    {"p2p", "what every rank reaches to every other, alone and all at once", run_rank});

}  // namespace
}  // namespace ucxbench::p2p
