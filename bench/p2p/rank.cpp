// The rank side of p2p: every rank sends to every other, in the rounds that the case asks for.

#include "bench/p2p/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bench/p2p/duet_blocks.hpp"
#include "bench/p2p/facts.hpp"
#include "bench/p2p/parameters.hpp"
#include "bench/p2p/report.hpp"
#include "bench/p2p/schedule.hpp"
#include "bench/p2p/streams.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/case_under_way.hpp"
#include "harness/run/checked_window.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/rank_of_cases.hpp"
#include "harness/run/together.hpp"
#include "harness/run/wire.hpp"
#include "harness/transports/counters.hpp"

namespace ucxbench::p2p {
namespace {

class Rank : public RankOfCases<Parameters> {
 public:
  explicit Rank(RankContext& context) : RankOfCases(context) {
    const auto largest = window_of(std::ranges::max(cases_, {}, bytes_of).parameters).all_bytes();
    const auto peers = static_cast<std::size_t>(rendezvous_.size()) - 1;
    buffers_.emplace(cases_.front().parameters, largest, peers);
    frame_.connect();
    hosts_.resize(static_cast<std::size_t>(rendezvous_.size()));
    const bool in_rounds = std::ranges::any_of(cases_, [](const auto& planned) {
      return planned.parameters.concurrent == Concurrent::disjoint;
    });
    if (in_rounds) meet_hosts();
  }

 private:
  static CheckedWindow window_of(const Parameters& p) { return {p.bytes, p.window}; }
  static std::uint64_t bytes_of(const PlannedCase<Parameters>& planned) {
    return window_of(planned.parameters).all_bytes();
  }
  /// Whether this rank's partner of a disjoint round is on another host.
  bool elsewhere(const std::vector<int>& to, const std::vector<int>& from) const {
    const auto& partners = to.empty() ? from : to;
    return !partners.empty() && hosts_[static_cast<std::size_t>(partners.front())] !=
                                    hosts_[static_cast<std::size_t>(rendezvous_.rank())];
  }
  void meet_hosts() {
    hosts_.clear();
    for (const auto& host : rendezvous_.all_gather("host", to_bytes(host_name() + " " + boot_id()),
                                                   frame_.waiting())) {
      hosts_.push_back(from_bytes(host).get<std::string>());
    }
  }
  Buffer& buffer_from(int peer) {
    return buffers_->receive[static_cast<std::size_t>(peer < rendezvous_.rank() ? peer : peer - 1)];
  }

  void measure(const PlannedCase<Parameters>& planned) override {
    const auto& p = planned.parameters;
    const bool alone = p.concurrent == Concurrent::one;
    const auto parts = parts_of(p.concurrent, hosts_, rendezvous_.rank());
    const auto turns = alone ? ordered_pairs(p.ranks) : std::vector<Pair>();
    if (!alone) rendezvous_.phase(fmt::format("{}, several pairs at once", spaced_size(p.bytes)));
    Facts facts(p.ranks);
    under_way_.reset();
    streams_.assign(static_cast<std::size_t>(p.ranks), {});
    under_way_.emplace(context_, planned.index, [&] { return finished_part(p); });
    auto* duet = alone ? context_.duet() : nullptr;
    if (duet != nullptr) duet->give_way();
    for (std::size_t round = 0; round < parts.size(); ++round) {
      const auto& [to, from] = parts[round];
      if (alone && to.empty() && from.empty()) continue;
      if (alone) {
        if (round > 0) await_turn(planned.index, round, turns[round - 1]);
        rendezvous_.phase(
            fmt::format("{}, one pair at once, round {}", spaced_size(p.bytes), round));
      } else if (p.progress.kind != ProgressMode::Kind::event) {
        // Where ranks poll for their partner, those of the round before need their processors.
        rendezvous_.barrier(frame_.waiting());
      }
      play_round(planned, round, to, from, facts);
      if (alone && round + 1 < parts.size()) pass_turn(planned.index, round + 1);
      if (duet != nullptr) duet->give_way();
    }
    gather(planned, facts);
  }

  // Of pairs one after the other: both ranks of the one before are done. Others sleep, for longer
  // than any message may take: so it is the rendezvous that they wait for.
  static std::string turn_name(std::size_t index, std::size_t round, int rank) {
    return fmt::format("turn/{}/{}/{}", index, round, rank);
  }
  void await_turn(std::size_t index, std::size_t round, const Pair& before) {
    for (const auto rank : {before.src, before.dst}) {
      if (rank != rendezvous_.rank())
        rendezvous_.get(turn_name(index, round, rank), frame_.waiting());
    }
  }
  void pass_turn(std::size_t index, std::size_t round) {
    rendezvous_.put(turn_name(index, round, rendezvous_.rank()), {}, frame_.waiting());
  }

  void play_round(const PlannedCase<Parameters>& planned, std::uint64_t round,
                  const std::vector<int>& to, const std::vector<int>& from, Facts& facts) {
    const auto& p = planned.parameters;
    const auto seed = [&](int src) { return payload_seed(src, p.bytes, round); };
    if (!to.empty()) buffers_->send.fill(p.bytes, seed(rendezvous_.rank()));
    Load load{.send = {buffers_->send.data(), p.bytes},
              .receive = {},
              .window = p.window,
              .messages = p.iterations,
              .least_messages = least_messages,
              .least_s = stream_ms * 1e-3,
              // Whoever is next, or reads the counters, must find nothing under way; of another
              // round's bytes the way to another host would be full.
              .confirmed = p.concurrent == Concurrent::one || context_.duet() != nullptr ||
                           (p.concurrent == Concurrent::disjoint && elsewhere(to, from))};
    auto* duet = context_.duet();
    if (duet != nullptr) {
      load.least_messages = static_cast<std::uint64_t>(p.window);
      load.least_s = duet_stream_ms * 1e-3;
    }
    std::vector<std::pair<int, Buffer*>> places;
    for (const auto src : from) {
      places.emplace_back(src, &buffer_from(src));
      load.receive.emplace_back(buffer_from(src).data(), p.bytes);
    }
    const auto forget = [&] {
      for (const auto& [src, place] : places) place->poison(p.bytes);
    };
    // After a stream, or after the last of a duet's blocks.
    const auto compare = [&] {
      for (const auto& [src, place] : places) {
        facts.checks.add(wrong_payload(*place, p.bytes, seed(src), comm(), src));
      }
    };
    const auto once = [&] { return stream(comm(), context_.clock(), load, to, from); };
    double longest_s = load.least_s;
    auto warmup = load;
    // Where a stream is so short, one message that nobody waits for connects the pair: among
    // hundreds of ranks on a few CPUs each signal wakes one, and each message costs as much as a
    // measured one.
    if (!load.confirmed && load.messages &&
        *load.messages <= static_cast<std::uint64_t>(p.window)) {
      warmup.announced = false;
      warmup.messages = 1;
    }
    for (int run = 0; run < p.warmup_runs; ++run) {
      for (const auto& done : stream(comm(), context_.clock(), warmup, to, from)) {
        longest_s = std::max(longest_s, context_.clock().us(done.ticks) * 1e-6);
      }
    }
    // Slow pairs' messages may take longer than that: fast ones shall not have ended before.
    if (p.concurrent != Concurrent::one && !p.iterations) {
      load.least_s = longest_of_all(longest_s, fmt::format("{}/{}", planned.index, round));
      // What one of the two sides was interrupted by shall not make its streams longer.
      if (duet != nullptr) load.least_s = std::ranges::min(duet->exchange(load.least_s));
    }
    const auto measured_run = [&] {
      if (p.concurrent == Concurrent::all) facts.meetings.push_back(meet());
      const auto asleep_ns = comm().asleep_ns();
      const auto ended = once();
      facts.asleep_ns += comm().asleep_ns() - asleep_ns;
      const auto lock = under_way_->change();
      for (const auto& done : ended) {
        streams_[static_cast<std::size_t>(done.src)].push_back(
            {.messages = done.messages,
             .per_s = context_.clock().per_s(static_cast<double>(done.messages), done.ticks),
             .begin_ns = done.begin_ns,
             .end_ns = done.end_ns});
      }
    };
    if (duet != nullptr) {
      int blocks = 0;
      const auto block = [&] {
        begin_block(p, load, to, from);
        forget();
        for (auto left = streams_of_block(p); left > 0; --left) measured_run();
        end_block(p, fmt::format("block/{}/{}/{}", planned.index, round, blocks++), !to.empty());
      };
      duet->blocks(quads_of(*duet, p), block);
      compare();
    } else {
      for (int run = 0; run < p.runs; ++run) {
        forget();
        measured_run();
        compare();
      }
    }
    facts.checks.add(window_of(p).exchange(comm(), round, buffers_->send, to, places));
    // One more stream between two readings of the counters, while nobody else sends.
    if (p.concurrent == Concurrent::one) {
      load.messages = counted_messages(p.bytes);
      const auto before = read_counters();
      once();
      const auto moved = counted_here(moved_since(before));
      for (const auto dst : to) sent_[{p.bytes, dst}] = {moved, *load.messages * p.bytes};
      for (const auto src : from) received_[{p.bytes, src}] = moved;
    }
    for (const auto src : from) {
      facts.received[static_cast<std::size_t>(src)] = Json::array(
          {to_json(streams_[static_cast<std::size_t>(src)]), received_[{p.bytes, src}]});
    }
    for (const auto dst : to) {
      // Beside others a message takes the way that it takes alone: UCX chooses by its size.
      const auto& [moved, payload] = sent_[{p.bytes, dst}];
      facts.sent[static_cast<std::size_t>(dst)] = {comm().lanes(dst), moved, payload};
    }
  }

  /// Some messages that do not count: the first after a change of sides are slow. Several pairs go
  /// on together, as they ended the block before.
  void begin_block(const Parameters& p, Load load, const std::vector<int>& to,
                   const std::vector<int>& from) {
    load.window = 1;
    load.least_messages = 1;
    if (load.messages) load.messages = (*load.messages + 2) / 3;
    stream(comm(), context_.clock(), load, to, from);
    if (p.concurrent == Concurrent::disjoint) rendezvous_.barrier(frame_.waiting());
  }

  /// All that was sent is with its receiver.
  void end_block(const Parameters& p, const std::string& name, bool sends) {
    if (p.concurrent != Concurrent::one) return rendezvous_.barrier(frame_.waiting());
    if (sends) {
      rendezvous_.put(name, {}, frame_.waiting());
    } else {
      rendezvous_.get(name, frame_.waiting());
    }
  }

  /// The same on all ranks.
  double longest_of_all(double own_s, const std::string& name) {
    double longest_s = own_s;
    for (const auto& of_rank :
         rendezvous_.all_gather("longest/" + name, to_bytes(own_s), frame_.waiting())) {
      longest_s = std::max(longest_s, from_bytes(of_rank).get<double>());
    }
    return longest_s;
  }

  /// All ranks come after the one before has let them go, so that nobody waits for long: whoever
  /// leaves knows to that time when the last one came, by its own clock.
  Json meet() {
    rendezvous_.barrier(frame_.waiting());
    return to_json(timed_meeting([this] { rendezvous_.barrier(frame_.waiting()); }));
  }

  void gather(const PlannedCase<Parameters>& planned, Facts& facts) {
    const Json own = {{"received", std::move(facts.received)},
                      {"checks", to_json(facts.checks)},
                      {"sent", std::move(facts.sent)},
                      {"meetings", facts.meetings},
                      {"asleep_ns", facts.asleep_ns},
                      {"clock", clock_identity()},
                      {"peak_buffer_bytes", peak_buffer_bytes()}};
    const auto ranks = ucxbench::gather(rendezvous_, fmt::format("flows/{}", planned.index), own,
                                        frame_.waiting());
    if (rendezvous_.rank() == 0) {
      report(context_, planned, ranks, frame_.waiting());
    }
  }

  /// What this rank has received, for the run's end in the middle of a case: what carried it is
  /// looked at only after the last run.
  CaseUnderWay::Finished finished_part(const Parameters& p) const {
    CaseUnderWay::Finished part;
    for (int src = 0; src < p.ranks; ++src) {
      auto record = record_of_streams(p, frame_.launch(), src, rendezvous_.rank(),
                                      streams_[static_cast<std::size_t>(src)]);
      if (!record.samples.empty()) part.records.push_back(std::move(record));
    }
    return part;
  }

  std::optional<MessageBuffers> buffers_;    ///< places by peer, this rank left out
  std::vector<std::string> hosts_;           ///< by rank; empty names where no case asks
  std::vector<std::vector<Timed>> streams_;  ///< of the case, by the rank that sent
  /// What moved here (counted_here) and the payload, by message size and receiver, while that pair
  /// was alone; and what moved by message size and sender. Null where no pair was.
  std::map<std::pair<std::uint64_t, int>, std::pair<Json, std::uint64_t>> sent_;
  std::map<std::pair<std::uint64_t, int>, Json> received_;
  /// Until the next one: rank 0 reports for all, when they have gone on.
  std::optional<CaseUnderWay> under_way_;
};

}  // namespace

void run_rank(RankContext& context) { Rank(context).run(); }

}  // namespace ucxbench::p2p
