// The rank side of kv: caches are filled, registered and moved from prefill to decode ranks.

#include "bench/kv/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>

#include "bench/kv/cache.hpp"
#include "bench/kv/contents.hpp"
#include "bench/kv/layout.hpp"
#include "bench/kv/origin.hpp"
#include "bench/kv/parameters.hpp"
#include "bench/kv/report.hpp"
#include "harness/comm/one_sided_device.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/case_under_way.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/rank_of_cases.hpp"
#include "harness/run/standing.hpp"
#include "harness/run/together.hpp"
#include "harness/run/wire.hpp"
#include "harness/transports/counters.hpp"

namespace ucxbench::kv {
namespace {

class Rank : public RankOfCases<Parameters> {
 public:
  explicit Rank(RankContext& context) : RankOfCases(context) {
    rendezvous_.phase("connecting");
    auto device = make_one_sided_device(rendezvous_.rank(), rendezvous_.size(), frame_.setup());
    device_ = device.get();
    frame_.connect(std::move(device));
  }

 private:
  enum Label : std::uint64_t { key_bytes, keys, first_layer };

  int rank() const { return rendezvous_.rank(); }
  static double us_since(std::uint64_t ns) { return us_between(ns, monotonic_ns()); }
  static double us_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
    return static_cast<double>(end_ns - begin_ns) * 1e-3;
  }
  bool decodes(const Layout& layout) const { return layout.decodes(rank()); }
  bool is_origin(const Parameters& p, const Layout& layout) const {
    return decodes(layout) == (p.op == Api::get);
  }

  void measure(const PlannedCase<Parameters>& planned) override {
    const auto& p = planned.parameters;
    const auto layout = layout_of(p);
    under_way_.reset();
    sessions_.clear();
    proof_ = {};
    checks_ = {};
    under_way_.emplace(context_, planned.index, [this, layout] { return finished_part(layout); });
    for (int session = 0; session < p.sessions; ++session) play(planned, layout, session);
    finish(planned, layout);
  }

  void phase(const Parameters& p, int session, const char* what) {
    rendezvous_.phase(fmt::format("{} {} of {}, session {}: {}", to_string(p.op), p.descriptors,
                                  spaced_size(p.bytes), session, what));
  }

  /// While this exists, memory is registered and the peers have its keys.
  struct Prepared {
    std::optional<Cache> own;
    std::deque<PeerCache> peers;
    std::optional<Origin> origin;
  };

  void play(const PlannedCase<Parameters>& planned, const Layout& layout, int session) {
    const auto& p = planned.parameters;
    phase(p, session, "allocating caches");
    Buffer memory(decodes(layout) ? p.received_into() : p.sent_from(), layout.bytes_of(rank()));
    rendezvous_.barrier(frame_.waiting());
    phase(p, session, "preparing");
    Prepared prepared;
    Session own;
    prepare(p, layout, memory, prepared, own);
    const auto checked = [&](int round, auto carry_out) {
      const auto number = static_cast<std::uint64_t>(session * (p.rounds + 2) + round);
      if (decodes(layout)) {
        memory.poison();
      } else {
        fill(layout, rank(), number, memory);
      }
      carry_out();
      if (decodes(layout)) checks_.add(check_blocks(layout, rank(), number, memory));
    };
    for (int round = 0; round <= p.rounds; ++round) {
      phase(p, session, round == 0 ? "first round" : "later rounds");
      checked(round, [&] { own.rounds.push_back(play_round(p, layout, prepared)); });
    }
    phase(p, session, "a round that nobody times");
    checked(p.rounds + 1, [&] {
      play_standing_still(p, layout, prepared, fmt::format("{}/{}", planned.index, session));
    });
    if (session == 0) prove(p, prepared);
    rendezvous_.barrier(frame_.waiting());  // no rank accesses another's memory any more
    const auto all = gather(rendezvous_, fmt::format("session/{}/{}", planned.index, session),
                            to_json(own, clock_identity()), frame_.waiting());
    if (rank() != 0) return;
    const auto lock = under_way_->change();
    sessions_.push_back(session_of(all));
  }

  void prepare(const Parameters& p, const Layout& layout, Buffer& memory, Prepared& prepared,
               Session& times) {
    comm().barrier();
    const auto began = monotonic_ns();
    prepared.own.emplace(device_->worker(), layout, rank(), memory);
    times.register_us.push_back(us_since(began));
    if (is_origin(p, layout)) {
      for (const auto peer : layout.peers_of(rank())) {
        prepared.peers.emplace_back(device_->endpoint(peer), keys_from(peer));
      }
      prepared.origin.emplace(comm(), p.op, layout, *prepared.own, prepared.peers, p.window);
    } else {
      give_keys(layout, prepared.own->keys());
    }
    times.prepare_us.push_back(us_since(began));
  }

  void give_keys(const Layout& layout, const std::vector<std::uint8_t>& all) {
    Batch given;
    const std::uint64_t bytes = all.size();
    for (const auto peer : layout.peers_of(rank())) {
      comm().send(peer, Label::key_bytes, std::as_bytes(std::span(&bytes, 1)), given);
      comm().send(peer, Label::keys, std::as_bytes(std::span(all)), given);
    }
    comm().wait(given);
  }

  std::vector<std::uint8_t> keys_from(int peer) {
    std::uint64_t bytes = 0;
    Batch length;
    comm().receive(peer, Label::key_bytes, std::as_writable_bytes(std::span(&bytes, 1)), length);
    comm().wait(length);
    std::vector<std::uint8_t> all(bytes);
    Batch taken;
    comm().receive(peer, Label::keys, std::as_writable_bytes(std::span(all)), taken);
    comm().wait(taken);
    return all;
  }

  /// Each rank's times begin when it leaves the barrier, and are all by one clock.
  Round play_round(const Parameters& p, const Layout& layout, Prepared& prepared) {
    const auto& peers = layout.peers_of(rank());
    std::vector<std::byte> token(peers.size());
    Batch told;
    const bool is_told = p.op == Api::put && decodes(layout);
    for (std::size_t peer = 0; is_told && peer < peers.size(); ++peer) {
      comm().receive(peers[peer], Label::first_layer, std::span(token).subspan(peer, 1), told);
    }
    Round times;
    times.meeting = timed_meeting([this] { comm().barrier(); });
    const auto began = times.meeting.left_ns;
    if (prepared.origin) {
      times.post_us = {us_between(began, prepared.origin->post())};
      const auto usable = prepared.origin->await_first_layer();
      if (p.op == Api::get) times.first_layer_us = {us_between(began, usable)};
      // The target does not see a put, so the origin tells it.
      for (std::size_t peer = 0; p.op == Api::put && peer < peers.size(); ++peer) {
        comm().send(peers[peer], Label::first_layer, std::span(token).subspan(peer, 1), told);
      }
      times.end_ns = prepared.origin->await_all();
      times.done_us = {us_between(began, times.end_ns)};
      for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        const auto [src, dst] = std::minmax({rank(), peers[peer]});
        times.pairs.push_back({src, dst, us_between(began, prepared.origin->done_with(peer))});
      }
    }
    comm().wait(told);
    if (is_told) times.first_layer_ns = monotonic_ns();
    comm().barrier();
    return times;
  }

  /// One round more. Who has its data makes no progress since it knew that they were there, nor
  /// does who put them: what is there only later has come too late. Puts are told by the
  /// rendezvous: what came behind them on their own way would hide a flush that ended before they
  /// were there.
  void play_standing_still(const Parameters& p, const Layout& layout, Prepared& prepared,
                           const std::string& name) {
    const auto told_by = [&name](int origin) { return fmt::format("done/{}/{}", name, origin); };
    rendezvous_.barrier(frame_.waiting());
    if (prepared.origin) {
      prepared.origin->post();
      prepared.origin->await_all();
    }
    const auto standing = standing_still(frame_.waiting());
    const bool puts = p.op == Api::put;
    if (puts && prepared.origin) rendezvous_.put(told_by(rank()), {}, standing);
    if (puts && decodes(layout)) {
      for (const auto peer : layout.peers_of(rank())) {
        rendezvous_.get(told_by(peer), frame_.waiting());
      }
    }
    const bool is_read = !puts && !decodes(layout);  // by who may not have all yet
    rendezvous_.barrier(is_read ? frame_.waiting() : standing);
  }

  /// Further operations: one of the first pair, which UCX describes, and several of each pair
  /// between two readings of the counters.
  void prove(const Parameters& p, Prepared& prepared) {
    const int origin = p.op == Api::get ? p.prefill : 0;
    if (rank() == origin) proof_.words = prepared.origin->describe_one();
    comm().barrier();
    const auto before = read_counters();
    comm().barrier();
    if (prepared.origin) prepared.origin->post_some(counted_messages(p.bytes));
    comm().barrier();
    proof_.counted = counted_here(moved_since(before));
  }

  void finish(const PlannedCase<Parameters>& planned, const Layout& layout) {
    auto own = case_facts(checks_, proof_.counted);
    own["words"] = proof_.words;
    own["lanes"] = Json::array();
    if (is_origin(planned.parameters, layout)) {
      for (const auto peer : layout.peers_of(rank())) own["lanes"].push_back(comm().lanes(peer));
    }
    const auto ranks =
        gather(rendezvous_, fmt::format("facts/{}", planned.index), own, frame_.waiting());
    if (rank() == 0) report(planned, layout, ranks);
  }

  void report(const PlannedCase<Parameters>& planned, const Layout& layout,
              const std::vector<Json>& ranks) {
    const auto& p = planned.parameters;
    const auto facts = facts_of_all(ranks);
    std::string words;
    std::vector<std::vector<std::string>> ways;  // lanes of each pair
    for (const auto& of : ranks) {
      if (words.empty()) words = of.at("words").get<std::string>();
      for (const auto& lanes : of.at("lanes")) ways.push_back(texts_of(lanes));
    }
    auto record = made_record(layout);
    for (const auto& way : ways) {
      for (const auto& lane : way) add_once(record.lanes, lane);
    }
    const auto pairs = ways.size();
    const auto first = parse_request_info(words);
    // Where pairs have other lanes, what UCX says of one is not said of all.
    const bool one_way = std::ranges::count(ways, ways.front()) == std::ssize(ways);
    const Evidence evidence{.lanes = record.lanes,
                            .path = one_way ? first : MessagePath{},
                            .moved = facts.counted,
                            .payload_bytes = counted_messages(p.bytes) * p.bytes * pairs,
                            .message_bytes = static_cast<double>(p.bytes),
                            .alike = pairs == 1};
    auto protocol = protocol_record(p.bytes, "bandwidth", first);
    protocol["operation"] = to_string(p.op);
    record.path =
        path_record(TransportSet::of(p.transports), evidence, Json::array({std::move(protocol)}),
                    context_.gpus().labels(record.lanes));
    context_.report_case(planned.index, record, facts.checks.verified, facts.checks.error,
                         frame_.waiting(), facts.peak_buffer_bytes);
  }

  LaunchRecord made_record(const Layout& layout) const {
    auto record = record_of(sessions_, layout, context_.clock().step_ns());
    record.launch = frame_.launch();
    return record;
  }

  /// If the run ends in the middle of a case.
  CaseUnderWay::Finished finished_part(const Layout& layout) const {
    CaseUnderWay::Finished part;
    if (!sessions_.empty()) part.records.push_back(made_record(layout));
    return part;
  }

  struct Proof {
    std::string words;
    Json counted;
  };

  OneSidedDevice* device_ = nullptr;  ///< of the communicator
  std::vector<Session> sessions_;     ///< of the case; on rank 0
  Checks checks_;                     ///< of the case, of what this rank received
  Proof proof_;
  std::optional<CaseUnderWay> under_way_;
};

}  // namespace

void run_rank(RankContext& context) { Rank(context).run(); }

}  // namespace ucxbench::kv
