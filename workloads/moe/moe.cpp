#include "workloads/moe/moe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/announced.hpp"
#include "harness/core/pattern.hpp"
#include "workloads/moe/routing.hpp"

namespace ucxbench::moe {
namespace {

enum Phase : std::size_t { counting, dispatching, combining };

template <typename Word>
std::span<const std::byte> bytes_of(const Word& word) {
  return std::as_bytes(std::span(&word, 1));
}

}  // namespace

Moe::Moe(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p)
    : comm_(comm), clock_(clock), p_(p) {
  const int ranks = comm.size();
  Router router(popularity_of(p.routing, p.experts), p.top_k, ranks);
  const auto routed = [&](int rank) {
    return router.tokens_by_rank(static_cast<std::uint64_t>(rank) * p.tokens, p.tokens);
  };
  auto own = routed(comm.rank());
  for (int distance = 1; distance < ranks; ++distance) {
    const int rank = (comm.rank() + distance) % ranks;
    peers_.push_back({.rank = rank,
                      .there = std::move(own[static_cast<std::size_t>(rank)]),
                      .here = std::move(routed(rank)[static_cast<std::size_t>(comm.rank())])});
    bytes_there_ += peers_.back().there.size() * p.token_bytes;
    bytes_here_ += peers_.back().here.size() * p.token_bytes;
  }
  buffers_ = memory.take({bytes_there_, bytes_here_, bytes_there_});
  std::array<std::byte*, 3> next = {buffers_[0].data(), buffers_[1].data(), buffers_[2].data()};
  const auto cut = [&](std::size_t buffer, std::size_t tokens) {
    const std::span<std::byte> bytes(next.at(buffer), tokens * p.token_bytes);
    next.at(buffer) += bytes.size();
    return bytes;
  };
  for (auto& peer : peers_) {
    peer.sent = cut(0, peer.there.size());
    peer.came = cut(1, peer.here.size());
    peer.back = cut(2, peer.there.size());
    peer.told = peer.there.size();
  }
}

void Moe::fill(const Peer& peer) {
  staged_.resize(peer.sent.size());
  auto next = std::span(staged_);
  for (const auto token : peer.there) {
    fill_pattern(next.first(p_.token_bytes), seed_of(token));
    next = next.subspan(p_.token_bytes);
  }
  copy_bytes(p_.kind(), peer.sent.data(), staged_.data(), staged_.size());
}

void Moe::exchange_counts(std::uint32_t number) {
  std::vector<FlowTo> to;
  std::vector<FlowFrom> from;
  for (auto& peer : peers_) {
    peer.heard = 0;
    to.push_back({peer.rank, bytes_of(peer.told)});
    from.push_back({peer.rank, std::as_writable_bytes(std::span(&peer.heard, 1))});
  }
  Flows(comm_, clock_, to, from, 1, label(number, Step::counts)).finish();
  for (const auto& peer : peers_) {
    check_equal({.count = peer.heard, .unit = "tokens", .rank = peer.rank}, peer.here.size());
  }
}

void Moe::dispatch(std::uint32_t number) {
  std::vector<FlowTo> to;
  std::vector<FlowFrom> from;
  for (auto& peer : peers_) {
    if (peer.told > 0) to.push_back({peer.rank, peer.sent});
    if (peer.heard > 0) from.push_back({peer.rank, peer.came});
  }
  Flows(comm_, clock_, to, from, 1, label(number, Step::dispatch)).finish();
}

void Moe::combine(std::uint32_t number) {
  std::vector<FlowTo> to;
  std::vector<FlowFrom> from;
  for (auto& peer : peers_) {
    if (peer.heard > 0) to.push_back({peer.rank, peer.came});
    if (peer.told > 0) from.push_back({peer.rank, peer.back});
  }
  Flows(comm_, clock_, to, from, 1, label(number, Step::combine)).finish();
}

ExchangeAlone Moe::exchange_alone() {
  const auto carry_out = [this](std::uint32_t number) {
    exchange_counts(number);
    dispatch(number);
    combine(number);
    return bytes_there_ + bytes_here_;
  };
  return {[this](std::uint32_t number) { fill(number); }, carry_out, [this] { return verify(); }};
}

void Moe::fill(std::uint32_t number) {
  run_ = number;
  for (const auto& peer : peers_) fill(peer);
}

// The mistake of the last rank, with what came to it first from any: it is wrong, was lost, or is
// what goes there.
void Moe::inject() {
  const auto some = std::ranges::find_if(
      peers_, [](const Peer& peer) { return !peer.came.empty() && !peer.sent.empty(); });
  if (comm_.rank() != comm_.size() - 1 || some == peers_.end()) return;
  auto* token = some->came.data();
  if (p_.injected == Injected::corrupt) corrupt(p_.kind(), reinterpret_cast<double*>(token));
  if (p_.injected == Injected::drop) {
    const std::vector<std::byte> nothing(p_.token_bytes);
    copy_bytes(p_.kind(), token, nothing.data(), nothing.size());
  }
  if (p_.injected == Injected::misroute) {
    copy_bytes(p_.kind(), token, some->sent.data(), p_.token_bytes);
  }
}

Iteration Moe::run(std::uint32_t number, TransferLog* log) {
  auto& clock = clock_of_phases_;
  fill(number);
  comm_.log_into(log, number);
  clock.start(comm_, clock_, log, number);
  exchange_counts(number);
  clock.enter(dispatching, clock_.ticks());
  dispatch(number);
  if (p_.injected != Injected::nothing) inject();
  // Until all have theirs: else a rate of combine would be of both.
  comm_.barrier();
  clock.enter(combining, clock_.ticks());
  combine(number);
  clock.stop(clock_.ticks());
  comm_.log_into(nullptr, 0);
  comm_.barrier();

  auto iteration = iteration_of(clock, phases.size(), clock_);
  iteration.sent_bytes = bytes_there_ + bytes_here_;
  iteration.received_bytes = iteration.sent_bytes;
  iteration.phase_bytes = {0, bytes_here_, bytes_there_};
  return iteration;
}

std::string Moe::wrong(const Peer& peer, std::span<const std::byte> bytes,
                       const std::vector<std::uint64_t>& tokens, const char* which) {
  staged_.resize(bytes.size());
  copy_bytes(p_.kind(), staged_.data(), bytes.data(), bytes.size());
  auto next = std::span<const std::byte>(staged_);
  for (const auto token : tokens) {
    if (const auto at = find_mismatch(next.first(p_.token_bytes), seed_of(token))) {
      return fmt::format("rank {}: token {} that came {} rank {} is wrong at byte {} of {}",
                         comm_.rank(), token, which, peer.rank, *at, p_.token_bytes);
    }
    next = next.subspan(p_.token_bytes);
  }
  return "";
}

std::string Moe::verify() {
  std::string error;
  for (const auto& peer : peers_) {
    if (error.empty()) error = wrong(peer, peer.came, peer.here, "from");
    if (error.empty()) error = wrong(peer, peer.back, peer.there, "back from");
  }
  return error;
}

}  // namespace ucxbench::moe
