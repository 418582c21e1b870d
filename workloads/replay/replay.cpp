#include "workloads/replay/replay.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "harness/core/activity.hpp"
#include "harness/core/due.hpp"
#include "harness/core/hash.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench::replay {
namespace {

/// Each message begins on a cache line of its own.
constexpr std::size_t line = 64;

bool is_sent(const Transfer& message) { return message.kind == Transfer::send; }

/// How long a rank waited for each other one, and did nothing else.
std::vector<std::uint64_t> waited_ns(const Stretch& run, const std::vector<Part>& parts,
                                     const std::vector<std::vector<Stretch>>& awaited) {
  std::vector<Stretch> others;
  for (const auto& [doing, when] : parts) {
    if (doing != Doing::waiting) others.push_back(when);
  }
  std::vector<std::uint64_t> all;
  for (const auto& of_rank : awaited) {
    std::uint64_t ns = 0;
    for (const auto& [doing, when] : parts_of(run, others, of_rank)) {
      if (doing == Doing::transferring) ns += when.end_ns - when.begin_ns;
    }
    all.push_back(ns);
  }
  return all;
}

}  // namespace

Replay::Replay(Communicator& comm, WorkloadMemory& memory, const Parameters& p, Script script,
               bool crowded)
    : comm_(comm),
      p_(p),
      script_(std::move(script)),
      order_(order_of(script_)),
      crowded_(crowded),
      log_(script_.messages.size()) {
  std::array<std::size_t, 2> used{};
  for (const auto& message : script_.messages) {
    auto& here = used[is_sent(message) ? 0 : 1];
    offsets_.push_back(here);
    here += (message.bytes + line - 1) / line * line;
    (is_sent(message) ? sent_bytes_ : received_bytes_) += message.bytes;
  }
  buffers_ = memory.take({used[0], used[1]});
  fill(0);
}

std::span<std::byte> Replay::place_of(std::size_t at) {
  const auto& message = script_.messages[at];
  return {buffers_[is_sent(message) ? 0 : 1].data() + offsets_[at], message.bytes};
}

std::uint64_t Replay::seed_of(const Transfer& message) const {
  const int from = is_sent(message) ? comm_.rank() : message.peer;
  const int to = is_sent(message) ? message.peer : comm_.rank();
  const auto ranks = static_cast<std::uint64_t>(comm_.size());
  const auto round = message.label * ranks + static_cast<std::uint64_t>(to);
  return payload_seed(from, message.bytes, round) + mix64(run_);
}

void Replay::fill(std::uint32_t number) {
  run_ = number;
  for (std::size_t at = 0; at < script_.messages.size(); ++at) {
    if (!is_sent(script_.messages[at])) continue;
    staged_.resize(script_.messages[at].bytes);
    fill_pattern(staged_, seed_of(script_.messages[at]));
    copy_bytes(p_.kind(), place_of(at).data(), staged_.data(), staged_.size());
  }
}

void Replay::wait_until(std::uint64_t ns) {
  while (monotonic_ns() < ns) {
    comm_.progress();
    activity().bump();
    if (crowded_) ::sched_yield();
  }
}

Replay::Run Replay::play(bool with_gaps, std::uint32_t number) {
  Run run;
  run.gaps.reserve(order_.gaps_ns.size());
  log_.clear();
  comm_.log_into(&log_, number);
  run.met = meet(comm_);
  const auto records = [&] { return log_.records(); };
  run.when.begin_ns = monotonic_ns();
  auto last_ns = run.when.begin_ns;
  std::size_t ended = 0;
  std::uint64_t last_recorded_ns = 0;
  // As far behind the last message that ended as it was recorded.
  const auto expect = [&](std::uint64_t recorded_ns) {
    const auto pause_ns = recorded_ns - std::min(last_recorded_ns, recorded_ns);
    idle_until_ns().store(with_gaps ? last_ns + pause_ns : 0, std::memory_order_relaxed);
  };
  const auto until_ended = [&](std::size_t count) {
    while (ended < count) {
      const auto ns = records()[order_.ends[ended]].completed_ns;
      const auto recorded_ns = script_.messages[order_.ends[ended]].completed_ns;
      if (ns == 0) {
        expect(recorded_ns);
        comm_.wait_a_step();
      } else {
        last_ns = std::max(last_ns, ns);
        last_recorded_ns = std::max(last_recorded_ns, recorded_ns);
        ++ended;
      }
    }
  };
  const auto gap = [&](std::uint64_t ns) {
    const auto begin = monotonic_ns();
    if (!with_gaps || begin >= last_ns + ns) return;
    wait_until(last_ns + ns);
    run.gaps.push_back({begin, monotonic_ns()});
  };
  Batch all;
  for (std::size_t at = 0; at < script_.messages.size(); ++at) {
    const auto& message = script_.messages[at];
    until_ended(order_.after[at]);
    gap(order_.gaps_ns[at]);
    if (is_sent(message)) {
      comm_.send(message.peer, message.label, place_of(at), all);
    } else {
      comm_.receive(message.peer, message.label, place_of(at), all);
    }
  }
  until_ended(order_.ends.size());
  gap(order_.gaps_ns.back());
  comm_.wait(all);
  run.when.end_ns = monotonic_ns();
  // Others may have pauses still.
  expect(static_cast<std::uint64_t>(p_.recorded_ms * 1e6));
  comm_.log_into(nullptr, 0);
  return run;
}

ExchangeAlone Replay::exchange_alone() {
  const auto carry_out = [this](std::uint32_t number) {
    play(false, number);
    return sent_bytes_;
  };
  return {[this](std::uint32_t number) { fill(number); }, carry_out, [this] { return verify(); }};
}

Iteration Replay::run(std::uint32_t number, TransferLog* log) {
  fill(number);
  const auto played = play(!p_.as_fast_as_possible, number);
  if (p_.injected != Injected::nothing) inject();
  Iteration iteration;
  iteration.met = played.met;
  iteration.began_ns = played.when.begin_ns;
  iteration.wall_ns = played.when.end_ns - played.when.begin_ns;
  iteration.phase_ns.resize(phases.size());
  iteration.sent_bytes = sent_bytes_;
  iteration.received_bytes = received_bytes_;
  iteration.messages = two_ends_of(comm_, log_.records(), true, played.met);
  idle_until_ns().store(0, std::memory_order_relaxed);
  std::vector<Stretch> transfers;
  std::vector<std::vector<Stretch>> awaited(static_cast<std::size_t>(comm_.size()));
  for (const auto& message : *iteration.messages) {
    transfers.push_back(message.under_way());
    if (is_sent(message.own)) continue;
    awaited[message.own.peer].push_back({message.own.posted_ns, transfers.back().begin_ns});
  }
  const auto parts = parts_of(played.when, played.gaps, transfers);
  iteration.waited_ns = waited_ns(played.when, parts, awaited);
  if (log != nullptr) {
    for (const auto& record : log_.records()) log->post(record);
  }
  for (const auto& [doing, when] : parts) {
    const auto phase = static_cast<std::size_t>(doing);
    iteration.phase_ns[phase] += when.end_ns - when.begin_ns;
    if (log == nullptr) continue;
    const auto rank = static_cast<std::uint16_t>(comm_.rank());
    log->post({.posted_ns = when.begin_ns,
               .completed_ns = when.end_ns,
               .label = phase,
               .rank = rank,
               .peer = rank,
               .kind = Transfer::phase,
               .iteration = number});
  }
  return iteration;
}

// The mistake of the last rank, with the first message that is long enough for it.
void Replay::inject() {
  if (comm_.rank() != comm_.size() - 1) return;
  for (std::size_t at = 0; at < script_.messages.size(); ++at) {
    const auto place = place_of(at);
    if (is_sent(script_.messages[at]) || place.size() < sizeof(double)) continue;
    if (p_.injected == Injected::corrupt) {
      corrupt(p_.kind(), reinterpret_cast<double*>(place.data()));
    } else {
      // Nothing, or another one's.
      std::vector<std::byte> wrong(place.size());
      if (p_.injected == Injected::misroute) fill_pattern(wrong, 0);
      copy_bytes(p_.kind(), place.data(), wrong.data(), wrong.size());
    }
    return;
  }
}

std::string Replay::verify() {
  for (std::size_t at = 0; at < script_.messages.size(); ++at) {
    const auto& message = script_.messages[at];
    if (is_sent(message)) continue;
    const auto place = place_of(at);
    staged_.resize(place.size());
    copy_bytes(p_.kind(), staged_.data(), place.data(), place.size());
    if (const auto wrong = find_mismatch(staged_, seed_of(message))) {
      return fmt::format("rank {}: message {} from rank {} is wrong at byte {} of {}", comm_.rank(),
                         message.label, message.peer, *wrong, message.bytes);
    }
  }
  return "";
}

}  // namespace ucxbench::replay
