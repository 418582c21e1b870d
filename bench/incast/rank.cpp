// The rank side of incast: loads of all ranks with one of them, and round trips beside.

#include "bench/incast/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "bench/incast/load.hpp"
#include "bench/incast/parameters.hpp"
#include "bench/incast/report.hpp"
#include "bench/incast/round_trips.hpp"
#include "harness/comm/all_to_all.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/case_under_way.hpp"
#include "harness/run/checked_window.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/rank_of_cases.hpp"
#include "harness/run/wire.hpp"
#include "harness/transports/counters.hpp"

namespace ucxbench::incast {
namespace {

class Rank : public RankOfCases<Parameters> {
 public:
  explicit Rank(RankContext& context) : RankOfCases(context) {
    std::uint64_t largest = 0;
    for (const auto& planned : cases_) {
      largest = std::max(largest, window_of(planned.parameters).all_bytes());
    }
    const auto places = is_hot() ? static_cast<std::size_t>(rendezvous_.size()) - 1 : 1;
    buffers_.emplace(cases_.front().parameters, largest, places);
    frame_.connect();
  }

 private:
  static CheckedWindow window_of(const Parameters& p) { return {p.bytes, p.window}; }
  bool is_hot() const { return rendezvous_.rank() == hot_rank; }
  bool is_probe() const { return rendezvous_.rank() == probe_rank; }
  double ns(std::uint64_t ticks) const { return context_.clock().us(ticks) * 1e3; }

  Buffer& buffer_from(int rank) {
    return buffers_->receive[is_hot() ? static_cast<std::size_t>(rank) - 1 : 0];
  }
  std::vector<int> senders() const {
    if (!is_hot()) return {hot_rank};
    std::vector<int> ranks;
    for (int rank = 1; rank < rendezvous_.size(); ++rank) ranks.push_back(rank);
    return ranks;
  }
  static std::uint64_t seed(const Parameters& p, int rank) {
    return payload_seed(rank, p.bytes, 0);
  }

  Load load_of(const Parameters& p) {
    Load load{.send = {buffers_->send.data(), p.bytes},
              .receive = {},
              .window = p.window,
              .messages = least_messages};
    load.receive.resize(static_cast<std::size_t>(comm().size()));
    for (const auto rank : senders()) {
      load.receive[static_cast<std::size_t>(rank)] = {buffer_from(rank).data(), p.bytes};
    }
    return load;
  }

  /// The same on all ranks: what lasts as long as a run is to, by the hot rank's clock.
  std::uint64_t messages_for(const Parameters& p, Load load) {
    if (p.iterations) return static_cast<std::uint64_t>(*p.iterations);
    const auto once = [&] {
      const auto took = ns(std::ranges::max(many_to_one(comm(), context_.clock(), load)));
      return all_gather(comm(), {static_cast<std::uint64_t>(took)})[hot_rank][0];
    };
    // The least seen: a preemption must not shorten what follows.
    auto took_ns = once();
    for (int more = 0; more < 3; ++more) took_ns = std::min(took_ns, once());
    took_ns = std::max<std::uint64_t>(took_ns, 1);
    const auto wanted = load_ms * 1e6 / static_cast<double>(took_ns) * least_messages;
    constexpr double most = 1e7;
    return std::max(least_messages, static_cast<std::uint64_t>(std::min(wanted, most)));
  }

  void forget(const Parameters& p, const std::vector<int>& from) {
    for (const auto rank : from) buffer_from(rank).poison(p.bytes);
  }
  /// The last message that came from each.
  void compare(const Parameters& p, const std::vector<int>& from) {
    for (const auto rank : from) {
      checks_.add(wrong_payload(buffer_from(rank), p.bytes, seed(p, rank), comm(), rank));
    }
  }

  /// Each part after a meeting in the rendezvous, where those wait who have none in it.
  Run run_once(const Parameters& p, Load load) {
    Run run;
    const auto& clock = context_.clock();
    const auto from = senders();
    forget(p, from);
    for (const auto ticks : many_to_one(comm(), clock, load)) {
      if (ticks > 0) run.in_ns.push_back(ns(ticks));
    }
    if (is_hot()) compare(p, from);
    for (const auto ticks : one_to_many(comm(), clock, load)) {
      if (ticks > 0) run.out_ns.push_back(ns(ticks));
    }
    if (!is_hot()) compare(p, from);
    const auto beside = senders_beside();
    forget(p, beside);
    rendezvous_.barrier(frame_.waiting());
    if (is_hot()) answer(comm(), lone_round_trips);
    if (is_probe()) run.alone_ns = in_ns(ask(comm(), clock));
    rendezvous_.barrier(frame_.waiting());
    if (!p.iterations) load.messages *= longer_beside;
    if (is_probe()) {
      run.beside_ns = in_ns(ask(comm(), clock));
    } else {
      load_beside(load, beside);
    }
    compare(p, beside);
    return run;
  }

  std::vector<int> senders_beside() const {
    std::vector<int> ranks;
    for (int rank = probe_rank + 1; is_hot() && rank < rendezvous_.size(); ++rank) {
      ranks.push_back(rank);
    }
    return ranks;
  }

  void load_beside(const Load& load, const std::vector<int>& senders) {
    std::vector<FlowTo> to;
    std::vector<FlowFrom> from;
    if (!is_hot()) to.push_back({hot_rank, load.send, load.messages});
    for (const auto rank : senders) {
      from.push_back({rank, load.receive[static_cast<std::size_t>(rank)], load.messages});
    }
    Flows flows(comm(), context_.clock(), to, from, load.window, 0);
    if (is_hot()) {
      answer_beside(comm(), flows);
    } else {
      flows.finish();
    }
  }

  std::vector<double> in_ns(const std::vector<std::uint64_t>& ticks) const {
    std::vector<double> times;
    for (const auto each : ticks) times.push_back(ns(each));
    return times;
  }

  void measure(const PlannedCase<Parameters>& planned) override {
    const auto& p = planned.parameters;
    under_way_.reset();
    runs_.clear();
    messages_ = 0;
    checks_ = {};
    rendezvous_.phase(fmt::format("{}: how many messages", spaced_size(p.bytes)));
    buffers_->send.fill(p.bytes, seed(p, comm().rank()));
    auto load = load_of(p);
    load.messages = messages_ = messages_for(p, load);
    under_way_.emplace(context_, planned.index, [&] { return finished_part(p); });
    for (int run = 0; run < p.warmup_runs; ++run) {
      rendezvous_.phase(fmt::format("{}: warm-up run {}", spaced_size(p.bytes), run));
      rendezvous_.barrier(frame_.waiting());
      run_once(p, load);
    }
    for (int run = 0; run < p.runs; ++run) {
      rendezvous_.phase(fmt::format("{}: run {}", spaced_size(p.bytes), run));
      rendezvous_.barrier(frame_.waiting());
      const auto own = run_once(p, load);
      const auto all = gather(rendezvous_, fmt::format("run/{}/{}", planned.index, run),
                              to_json(own), frame_.waiting());
      if (!is_hot()) continue;
      const auto lock = under_way_->change();
      runs_.push_back(run_of(all));
    }
    finish(planned, load);
  }

  /// One window more in each direction.
  void check_windows(const Parameters& p) {
    std::vector<std::pair<int, Buffer*>> places;
    for (const auto rank : senders()) places.emplace_back(rank, &buffer_from(rank));
    const auto exchange = [&](bool to_hot) {
      const bool sends = is_hot() != to_hot;
      checks_.add(window_of(p).exchange(comm(), to_hot ? 0 : 1, buffers_->send,
                                        sends ? senders() : std::vector<int>(),
                                        sends ? decltype(places)() : places));
    };
    exchange(true);
    exchange(false);
  }

  void finish(const PlannedCase<Parameters>& planned, Load load) {
    const auto& p = planned.parameters;
    // One more between two readings of the counters, while nobody else sends.
    rendezvous_.barrier(frame_.waiting());
    const auto before = read_counters();
    load.messages = counted_messages(p.bytes);
    many_to_one(comm(), context_.clock(), load);
    const auto counted = moved_since(before);
    const auto payload = load.messages * p.bytes * (static_cast<std::uint64_t>(comm().size()) - 1);
    check_windows(p);
    const auto own = case_facts(checks_, counted_here(counted));
    const auto ranks =
        gather(rendezvous_, fmt::format("facts/{}", planned.index), own, frame_.waiting());
    if (is_hot()) report(planned, ranks, payload);
  }

  void report(const PlannedCase<Parameters>& planned, const std::vector<Json>& ranks,
              std::uint64_t payload) {
    const auto& p = planned.parameters;
    const auto facts = facts_of_all(ranks);
    auto record = made_record(p);
    record.lanes = comm().lanes_to_all();
    const Evidence evidence{.lanes = record.lanes,
                            .path = {},
                            .device = device_name(p.comm),
                            .moved = facts.counted,
                            .payload_bytes = payload,
                            .message_bytes = static_cast<double>(p.bytes),
                            .alike = false};
    record.path = path_record(TransportSet::of(p.transports), evidence, Json::array(),
                              context_.gpus().labels(record.lanes));
    context_.report_case(planned.index, record, facts.checks.verified, facts.checks.error,
                         frame_.waiting(), facts.peak_buffer_bytes);
  }

  LaunchRecord made_record(const Parameters& p) const {
    auto record = record_of(runs_, p, messages_, context_.clock().step_ns());
    record.launch = frame_.launch();
    return record;
  }

  /// For the run's end in the middle of a case: what carried it is looked at only after the last
  /// run.
  CaseUnderWay::Finished finished_part(const Parameters& p) const {
    CaseUnderWay::Finished part;
    if (!runs_.empty()) part.records.push_back(made_record(p));
    return part;
  }

  std::optional<MessageBuffers> buffers_;  ///< places of the hot rank by sender, else one
  std::vector<Run> runs_;                  ///< of the case; on the hot rank
  std::uint64_t messages_ = 0;
  Checks checks_;  ///< of the case, of what this rank received
  std::optional<CaseUnderWay> under_way_;
};

}  // namespace

void run_rank(RankContext& context) { Rank(context).run(); }

}  // namespace ucxbench::incast
