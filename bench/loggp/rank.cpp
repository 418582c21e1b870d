// The rank side of loggp: rank 0 times what it does with rank 1.

#include "bench/loggp/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/loggp/parameters.hpp"
#include "bench/loggp/steps.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/case_under_way.hpp"
#include "harness/run/checked_window.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/wire.hpp"
#include "harness/transports/counters.hpp"

namespace ucxbench::loggp {
namespace {

constexpr std::size_t kept_samples = 1000;
/// By then a message has arrived, even one that is slower than the fastest.
constexpr double round_trips_of_delay = 4;
constexpr double least_delay_us = 20;

std::vector<double> in_us(const Clock& clock, const std::vector<std::uint64_t>& ticks) {
  std::vector<double> all;
  for (const auto each : ticks) all.push_back(clock.us(each));
  return all;
}

/// Which ranks receive messages in a measurement.
enum class ComesTo { both, first, second };

class Rank {
 public:
  explicit Rank(RankContext& context)
      : context_(context), rendezvous_(context.rendezvous()), cases_(context.cases<Parameters>()) {
    rendezvous_.phase("allocating buffers");
    const auto& p = cases_.front().parameters;
    if (needs_cuda(p.sent_from()) || needs_cuda(p.received_into())) {
      gpu_.emplace(gpu_of_rank(p.devices, rendezvous_.rank_on_machine()));
    }
    std::uint64_t largest = 0;
    for (const auto& planned : cases_) {
      largest = std::max(largest, window_of(planned.parameters).all_bytes());
    }
    send_.emplace(p.sent_from(), largest);
    receive_.emplace(p.received_into(), largest);
    rendezvous_.phase("connecting");
    comm_.emplace(rendezvous_, Communicator::Setup{.kind = p.comm,
                                                   .transports = p.transports,
                                                   .connect_by = p.connect_by,
                                                   .net_devices = p.net_devices,
                                                   .progress = p.progress,
                                                   .crowded = context_.crowded()});
  }

  void run() {
    context_.report_rank(device_of(gpu_),
                         {{"net_devices", cases_.front().parameters.net_devices},
                          {"ucx_effective", comm_->effective()}},
                         waiting_);
    for (const auto& planned : cases_) measure(planned);
    comm_->close(rendezvous_);
  }

 private:
  static CheckedWindow window_of(const Parameters& p) { return {p.bytes, p.train}; }
  bool times() const { return comm_->rank() == 0; }
  static std::uint64_t seed(const Parameters& p, int rank) {
    return payload_seed(rank, p.bytes, 0);
  }

  void measure(const PlannedCase<Parameters>& planned) {
    const auto& p = planned.parameters;
    samples_.clear();
    under_way_.emplace(context_, planned.index, [&] {
      CaseUnderWay::Finished part;
      if (!samples_.empty()) part.records.push_back(made_record(p));
      return part;
    });
    send_->fill(p.bytes, seed(p, comm_->rank()));
    const End end{.comm = *comm_,
                  .clock = context_.clock(),
                  .sends = {send_->data(), p.bytes},
                  .receives = {receive_->data(), p.bytes}};
    Checks checks;
    const auto step = [&](const char* name, ComesTo whom, auto take) {
      rendezvous_.phase(fmt::format("{}: {}", spaced_size(p.bytes), name));
      rendezvous_.barrier(waiting_);
      if (p.warmup_runs > 0) take(p.warmup_runs);
      receive_->poison(p.bytes);
      rendezvous_.barrier(waiting_);
      auto values = take(p.iterations);
      const int other = 1 - comm_->rank();
      if (whom == ComesTo::both || (whom == ComesTo::first) == times()) {
        checks.add(wrong_payload(*receive_, p.bytes, seed(p, other), *comm_, other));
      }
      return values;
    };
    const auto& clock = end.clock;
    auto latency = step("round trips", ComesTo::both, [&](int count) {
      auto us = in_us(clock, time_trains(end, 1, count));
      for (auto& each : us) each /= 2;
      return us;
    });
    // Not the median: on a busy machine it may be longer than a whole train.
    const auto round_trip_us = times() ? 2 * std::ranges::min(latency) : 0;
    keep("latency_us", std::move(latency));
    auto message = step("trains", ComesTo::both, [&](int count) {
      auto us = in_us(clock, time_trains(end, p.train, count));
      for (auto& each : us) each = (each - round_trip_us) / (p.train - 1);
      std::erase_if(us, [](double each) { return each <= 0; });
      return us;
    });
    keep("message_us", std::move(message));
    const auto delay =
        clock.ticks_in(std::max(least_delay_us, round_trips_of_delay * round_trip_us) * 1e-6);
    keep("send_overhead_us", step("what sending takes", ComesTo::second, [&](int count) {
           return overheads(time_sends(end, delay, count));
         }));
    keep("receive_overhead_us", step("what receiving takes", ComesTo::first, [&](int count) {
           return overheads(time_receives(end, delay, count));
         }));
    finish(planned, end, checks);
  }

  /// Less the cost of the two pairs of time stamps; values that are not above 0 then are dropped.
  std::vector<double> overheads(const std::vector<std::uint64_t>& ticks) const {
    auto all = in_us(context_.clock(), ticks);
    for (auto& each : all) each -= 2 * stamp_us_;
    std::erase_if(all, [](double us) { return us <= 0; });
    return all;
  }

  void keep(const char* metric, std::vector<double> values) {
    if (values.empty()) return;
    const auto lock = under_way_->change();
    samples_[metric] =
        make_samples(std::move(values), kept_samples, context_.clock().step_ns() * 1e-3);
  }

  LaunchRecord made_record(const Parameters& p) const {
    LaunchRecord record;
    record.launch = context_.plan().at("launch").get<int>();
    record.iterations = static_cast<std::uint64_t>(p.iterations);
    record.messages = record.iterations * static_cast<std::uint64_t>(p.train);
    record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
    record.samples = samples_;
    return record;
  }

  void finish(const PlannedCase<Parameters>& planned, const End& end, Checks checks) {
    const auto& p = planned.parameters;
    // A train between two readings of the counters.
    const auto messages = std::min(counted_messages(p.bytes), most_train);
    rendezvous_.barrier(waiting_);
    const auto before = read_counters();
    time_trains(end, static_cast<int>(messages), 1);
    const auto counted = moved_since(before);
    const std::uint64_t payload = (messages + 1) * p.bytes;
    const int other = 1 - comm_->rank();
    checks.add(window_of(p).exchange(*comm_, 0, *send_, {other}, {{other, &*receive_}}));
    const auto own = case_facts(checks, counted_here(counted));
    const auto ranks = gather(rendezvous_, fmt::format("facts/{}", planned.index), own, waiting_);
    if (!times()) return;
    const auto facts = facts_of_all(ranks);
    auto record = made_record(p);
    record.lanes = comm_->lanes(1);
    const Evidence evidence{.lanes = record.lanes,
                            .path = {},
                            .device = device_name(p.comm),
                            .moved = facts.counted,
                            .payload_bytes = payload,
                            .message_bytes = static_cast<double>(p.bytes)};
    record.path = path_record(TransportSet::of(p.transports), evidence, Json::array(),
                              context_.gpus().labels(record.lanes));
    context_.report_case(planned.index, record, facts.checks.verified, facts.checks.error, waiting_,
                         facts.peak_buffer_bytes);
  }

  RankContext& context_;
  Rendezvous& rendezvous_;
  std::vector<PlannedCase<Parameters>> cases_;
  std::optional<CudaContext> gpu_;
  std::optional<Buffer> send_, receive_;
  std::optional<Communicator> comm_;
  std::map<std::string, Samples> samples_;  ///< of the case; on rank 0
  std::optional<CaseUnderWay> under_way_;
  double stamp_us_ = context_.clock().cost_ns() * 1e-3;
  Rendezvous::Progress waiting_ = [this] { comm_->rest(rendezvous_); };
};

}  // namespace

void run_rank(RankContext& context) { Rank(context).run(); }

}  // namespace ucxbench::loggp
