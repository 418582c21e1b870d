#include "harness/comm/communicator.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "harness/core/clock.hpp"
#include "harness/core/failure.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {
namespace {

constexpr std::uint64_t barrier_labels = label_count / 2;

void check_label(std::uint64_t label) {
  if (label < barrier_labels) return;
  throw Failure(Exit::cannot_run, fmt::format("a message's label is {}, but must be below {}",
                                              label, barrier_labels));
}

}  // namespace

std::unique_ptr<CommDevice> make_device(int rank, int size, const CommSetup& setup) {
  switch (setup.kind) {
    case CommKind::sockets:
      return make_socket_device(rank, size, setup);
    case CommKind::mpi:
      return make_mpi_device(rank, size);
    case CommKind::ucx:
      break;
  }
  return make_ucx_device(rank, size, setup);
}

void Message::over() {
  if (owner != nullptr) owner->end(*this);
}

Communicator::Communicator(Rendezvous& rendezvous, const Setup& setup)
    : Communicator(rendezvous, setup, make_device(rendezvous.rank(), rendezvous.size(), setup)) {}

Communicator::Communicator(Rendezvous& rendezvous, const Setup& setup,
                           std::unique_ptr<CommDevice> device)
    : rank_(rendezvous.rank()),
      size_(rendezvous.size()),
      sleeps_(setup.progress.kind == ProgressMode::Kind::event),
      may_sleep_(sleeps_ || setup.takes_turns),
      crowded_(setup.crowded),
      device_(std::move(device)) {
  device_->connect(rendezvous, [&] { rest(rendezvous); });
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

Message& Communicator::begin(int peer, std::uint64_t label, std::size_t bytes, bool receives,
                             Batch& batch) {
  if (free_.empty()) {
    messages_.emplace_back();
    free_.push_back(&messages_.back());
  }
  auto* message = free_.back();
  free_.pop_back();
  *message = {.owner = this, .batch = &batch, .bytes = bytes};
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
  return *message;
}

void Communicator::end(Message& message) {
  ended_any_ = true;
  if (log_ != nullptr && message.logged != TransferLog::none) {
    log_->complete(message.logged, monotonic_ns(), &message == posting_);
  }
  --message.batch->in_flight;
  --in_flight_;
  free_.push_back(&message);
}

void Communicator::post_send(int to, std::uint64_t label, std::span<const std::byte> bytes,
                             Batch& batch) {
  device_->send(to, label, bytes, begin(to, label, bytes.size(), false, batch));
  posting_ = nullptr;
}

void Communicator::post_receive(int from, std::uint64_t label, std::span<std::byte> bytes,
                                Batch& batch) {
  device_->receive(from, label, bytes, begin(from, label, bytes.size(), true, batch));
  posting_ = nullptr;
}

void Communicator::wait_a_step() {
  if (device_->step()) {
    if (may_sleep_) device_->worked();
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
  if (!crowded_ || std::exchange(yielded_, !yielded_)) return device_->sleep(-1);
  ::sched_yield();
  return true;
}

void Communicator::rest(const Rendezvous& rendezvous) {
  if (device_->step()) {
    if (may_sleep_) device_->worked();
    // While UCX connects, the descriptor that it waits by is ready without end: who is to answer
    // needs this processor.
    if (crowded_) ::sched_yield();
  } else if (may_sleep_) {
    device_->sleep(rendezvous.answer_fd());
  }
}

std::vector<std::string> Communicator::lanes_to_all() const {
  std::vector<std::string> all;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == rank()) continue;
    for (const auto& lane : lanes(peer)) add_once(all, lane);
  }
  return all;
}

void Communicator::barrier() {
  std::byte token{};
  std::byte taken{};
  ++barriers_;
  for (int distance = 1; distance < size_; distance *= 2) {
    Batch round;
    // No rank is more than one barrier ahead.
    const auto label = barrier_labels | barriers_ % barrier_labels;
    post_receive((rank_ + size_ - distance) % size_, label, {&taken, 1}, round);
    post_send((rank_ + distance) % size_, label, {&token, 1}, round);
    wait(round);
  }
}

void Communicator::log_into(TransferLog* log, std::uint32_t iteration) {
  log_ = log;
  iteration_ = iteration;
}

// Closing each connection would ask the peer once more whether all has come. Among 512 ranks that
// is a tenth of all messages of a short run, and says nothing new.
void Communicator::close(Rendezvous& rendezvous) {
  rendezvous.barrier([&] { rest(rendezvous); });
  // Without progress: it would take the ends of those who have left for losses.
  rendezvous.barrier({});
  device_->close();
}

}  // namespace ucxbench
