#include "harness/comm/communicator.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "harness/comm/progress.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {
namespace {

constexpr unsigned label_bits = 48;
constexpr std::uint64_t barrier_labels = std::uint64_t{1} << 47U;

// The sender's rank stands above the label: a worker has many peers.
ucp_tag_t tag_of(int sender, std::uint64_t label) {
  return static_cast<std::uint64_t>(sender) << label_bits | label;
}

void check_label(std::uint64_t label) {
  if (label < barrier_labels) return;
  throw Failure(Exit::cannot_run,
                fmt::format("a message's label is {}, but must be below 2^47: too many messages or "
                            "iterations for one run, ask for fewer",
                            label));
}

}  // namespace

Communicator::Communicator(Rendezvous& rendezvous, const Setup& setup)
    : rank_(rendezvous.rank()),
      size_(rendezvous.size()),
      sleeps_(setup.progress.kind == ProgressMode::Kind::event),
      crowded_(setup.crowded),
      worker_(Api::tag, setup.progress),
      endpoints_(static_cast<std::size_t>(size_)) {
  if (sleeps_ || setup.takes_turns) sleeper_.emplace(worker_.handle(), sleeps_);
  const auto step = [&] { rest(rendezvous); };
  if (setup.connect_by == ConnectBy::address) {
    connect_to_addresses(rendezvous, step);
    return;
  }
  // Pairs in the same order on all ranks, so that nobody waits in a circle.
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    const auto pair = fmt::format("{}-{}", std::min(peer, rank_), std::max(peer, rank_));
    endpoints_[static_cast<std::size_t>(peer)].emplace(
        connect_by_sockaddr(worker_, rendezvous, peer, pair, setup.net_devices, step));
  }
}

// Of each pair one rank connects, and when all have done so the other takes the connection that it
// has then. Where both do at once, tcp makes two connections and closes one of them; among hundreds
// of ranks UCX 1.13 breaks down over that ("Endpoint timeout", an assertion on stale_fd).
void Communicator::connect_to_addresses(Rendezvous& rendezvous, const Rendezvous::Progress& step) {
  const auto addresses = exchange_addresses(worker_, rendezvous, step);
  // Half of the others each, beginning behind this one: no rank is everybody's first.
  const auto connect = [&](bool first) {
    for (int distance = 1; distance < size_; ++distance) {
      const auto peer = (rank_ + distance) % size_;
      const bool is_first = 2 * distance < size_ || (2 * distance == size_ && rank_ < peer);
      if (is_first != first) continue;
      const auto at = static_cast<std::size_t>(peer);
      endpoints_[at].emplace(connect_to_address(worker_, addresses[at], rank_, peer));
    }
  };
  connect(true);
  for (auto& endpoint : endpoints_) {
    if (endpoint) endpoint->begin_flush();
  }
  for (auto& endpoint : endpoints_) {
    while (endpoint && !endpoint->is_over()) step();
  }
  rendezvous.barrier(step);
  connect(false);
}

Communicator::~Communicator() {
  for (auto& message : messages_) message.owner = nullptr;
}

void Communicator::send(int to, std::uint64_t label, std::span<const std::byte> bytes,
                        Batch& batch) {
  check_label(label);
  post_send(to, label, bytes, batch);
}

void Communicator::receive(int from, std::uint64_t label, std::span<std::byte> bytes,
                           Batch& batch) {
  check_label(label);
  post_receive(from, label, bytes, batch);
}

Communicator::Message* Communicator::begin(int peer, std::uint64_t label, std::size_t bytes,
                                           bool receives, Batch& batch) {
  if (free_.empty()) {
    messages_.emplace_back();
    free_.push_back(&messages_.back());
  }
  auto* message = free_.back();
  free_.pop_back();
  *message = {this, &batch, TransferLog::none, bytes};
  if (log_ != nullptr && label < barrier_labels) {
    constexpr std::size_t most = 65535;
    message->logged =
        log_->post({.posted_ns = monotonic_ns(),
                    .bytes = bytes,
                    .label = label,
                    .rank = static_cast<std::uint16_t>(rank_),
                    .peer = static_cast<std::uint16_t>(peer),
                    .in_flight = static_cast<std::uint16_t>(std::min(in_flight_, most)),
                    .kind = receives ? Transfer::receive : Transfer::send,
                    .iteration = iteration_});
  }
  posting_ = message;
  ++batch.in_flight;
  ++in_flight_;
  return message;
}

void Communicator::end(Message* message, ucs_status_t status) {
  ended_any_ = true;
  if (status != UCS_OK) error_ = status;
  if (log_ != nullptr && message->logged != TransferLog::none) {
    log_->complete(message->logged, monotonic_ns(), message == posting_);
  }
  --message->batch->in_flight;
  --in_flight_;
  free_.push_back(message);
}

void Communicator::posted(Message* message, ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) end(message, UCS_PTR_STATUS(request));
  posting_ = nullptr;
}

ucp_request_param_t Communicator::params(Message* message) const {
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
  params.datatype = ucp_dt_make_contig(1);
  params.user_data = message;
  return params;
}

void Communicator::post_send(int to, std::uint64_t label, std::span<const std::byte> bytes,
                             Batch& batch) {
  auto* message = begin(to, label, bytes.size(), false, batch);
  auto request = params(message);
  request.cb.send = [](void* done, ucs_status_t status, void* user) {
    auto* sent = static_cast<Message*>(user);
    ucp_request_free(done);
    if (sent->owner != nullptr) sent->owner->end(sent, status);
  };
  posted(message, ucp_tag_send_nbx(endpoints_[static_cast<std::size_t>(to)]->handle(), bytes.data(),
                                   bytes.size(), tag_of(rank_, label), &request));
}

void Communicator::post_receive(int from, std::uint64_t label, std::span<std::byte> bytes,
                                Batch& batch) {
  auto* message = begin(from, label, bytes.size(), true, batch);
  auto request = params(message);
  // With its callback even when it is complete at once: UCX 1.13 tells the length nowhere else.
  request.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  request.cb.recv = [](void* done, ucs_status_t status, const ucp_tag_recv_info_t* info,
                       void* user) {
    auto* received = static_cast<Message*>(user);
    auto* owner = received->owner;
    const bool wrong_length = status == UCS_OK && info->length != received->bytes;
    ucp_request_free(done);
    if (owner == nullptr) return;
    owner->wrong_length_ |= wrong_length;
    owner->end(received, status);
  };
  posted(message, ucp_tag_recv_nbx(worker_.handle(), bytes.data(), bytes.size(),
                                   tag_of(from, label), ~ucp_tag_t{0}, &request));
}

// Whether anything happened.
bool Communicator::take_step() {
  const bool moved = progress_once(worker_.handle());
  if (error_ == UCS_ERR_MESSAGE_TRUNCATED || wrong_length_) {
    throw Failure(Exit::wrong_data, "a message has another length than its receiver expected");
  }
  check(error_, "a message");
  return moved;
}

void Communicator::progress() { take_step(); }

void Communicator::wait_a_step() {
  if (take_step()) {
    if (sleeper_) sleeper_->worked();
    yielded_ = false;
  } else if (sleeps_ && !std::exchange(ended_any_, false)) {
    const auto begin = monotonic_ns();
    if (give_way()) asleep_ns_ += monotonic_ns() - begin;
  }
}

// Where others need this processor they get it first: what this rank waits for has often come
// before its next turn, and its sender need not wake it. With 256 ranks on two processors that
// takes a fifth off the time of their messages. Whether it was asleep.
bool Communicator::give_way() {
  if (!crowded_ || std::exchange(yielded_, !yielded_)) return sleeper_->sleep();
  ::sched_yield();
  return true;
}

void Communicator::rest(const Rendezvous& rendezvous) {
  if (take_step()) {
    if (sleeper_) sleeper_->worked();
    // While UCX connects, the descriptor that it waits by is ready without end: who is to answer
    // needs this processor.
    if (crowded_) ::sched_yield();
  } else if (sleeper_) {
    sleeper_->sleep(rendezvous.answer_fd());
  }
}

void Communicator::barrier() {
  std::byte token{};
  std::byte taken{};
  ++barriers_;
  for (int distance = 1; distance < size_; distance *= 2) {
    Batch round;
    const auto label = barrier_labels | barriers_;
    post_receive((rank_ + size_ - distance) % size_, label, {&taken, 1}, round);
    post_send((rank_ + distance) % size_, label, {&token, 1}, round);
    wait(round);
  }
}

std::vector<std::string> Communicator::lanes(int peer) const {
  return endpoints_[static_cast<std::size_t>(peer)]->lanes();
}

void Communicator::log_into(TransferLog* log, std::uint32_t iteration) {
  log_ = log;
  iteration_ = iteration;
}

// Closing each endpoint would ask the peer once more whether all has come. Among 512 ranks that is
// a tenth of all messages of a short run, and says nothing new.
void Communicator::close(Rendezvous& rendezvous) {
  rendezvous.barrier([&] { rest(rendezvous); });
  // Without progress: it would take the ends of those who have left for losses.
  rendezvous.barrier({});
  reset_connections();
}

}  // namespace ucxbench
