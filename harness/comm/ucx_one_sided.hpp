#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/comm/registration.hpp"
#include "harness/comm/ucx_links.hpp"
#include "harness/comm/worker.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {

/// What the peer gives for what this side gives; both call it, outside timed regions.
using Exchange = std::function<std::vector<std::uint8_t>(const std::vector<std::uint8_t>& own)>;

/// Operations on the peer's memory: their origin posts them, their target only makes progress,
/// which they need wherever UCX carries them out in software. As in ucx_perftest, the only feature
/// asked for is the operation's own, so a signal is such an operation too, on a word of the peer's
/// that counts signals: of `put` and `get` a put, of atomic operations an addition.
template <typename Operation, typename Progress>
class OneSidedLink : public LinkBase<Operation, Progress> {
  using Base = LinkBase<Operation, Progress>;

 public:
  OneSidedLink(const UcxWorker& worker, ucp_ep_h endpoint, Progress& progress, bool atomic,
               Exchange exchange)
      : Base(worker.handle(), endpoint, progress),
        ucx_(worker),
        exchange_(std::move(exchange)),
        atomic_(atomic),
        own_counts_(worker, {counts_.data(), counts_.size()}),
        peer_counts_(endpoint, exchange_(own_counts_.key())) {}

  /// Registers memory that the peer may act on, and learns the peer's; both sides call it. It must
  /// be withdrawn, by both, before it goes.
  void expose(std::span<std::byte> memory) {
    if (own_) return;
    own_.emplace(ucx_, memory);
    peer_.emplace(this->endpoint_, exchange_(own_->key()));
  }
  /// Nobody acts on anybody's memory any more.
  void withdraw() {
    peer_.reset();
    own_.reset();
    exchange_({});
  }

  /// Comes after every operation posted before it; does not wait for anything.
  void mark() {
    if (auto* request = post_mark()) ucp_request_free(request);
  }

  /// All operations before it are done, also at the target, and the target can see that. What
  /// remains of it then needs nothing of the peer, which may go on to another connection.
  void signal() {
    this->flush();
    auto* request = post_mark();
    if (request == nullptr) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) this->progress_.turn();
    ucp_request_free(request);
  }

  void await_signal() {
    ++awaited_;
    auto* word = reinterpret_cast<std::uint64_t*>(counts_.data());
    this->progress_.until(
        [&] { return std::atomic_ref(*word).load(std::memory_order_acquire) >= awaited_; });
  }

 protected:
  const RemoteMemory& peer() const { return *peer_; }

 private:
  void* post_mark() {
    check(ucp_worker_fence(this->worker_), "ucp_worker_fence");
    auto& token = tokens_.at(marks_++ % tokens_.size());
    token = atomic_ ? 1 : marks_;
    ucp_request_param_t params{};
    void* request = nullptr;
    if (atomic_) {
      params.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
      params.datatype = ucp_dt_make_contig(sizeof token);
      request = ucp_atomic_op_nbx(this->endpoint_, UCP_ATOMIC_OP_ADD, &token, 1,
                                  peer_counts_.address(), peer_counts_.key(), &params);
    } else {
      request = ucp_put_nbx(this->endpoint_, &token, sizeof token, peer_counts_.address(),
                            peer_counts_.key(), &params);
    }
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "posting a signal");
    return request;
  }

  const UcxWorker& ucx_;
  Exchange exchange_;
  bool atomic_;
  Buffer counts_{MemoryKind::host, sizeof(std::uint64_t)};
  Registration own_counts_;
  RemoteMemory peer_counts_;
  std::optional<Registration> own_;
  std::optional<RemoteMemory> peer_;
  // Those of the last marks: one may be under way while the next is posted, never more.
  std::array<std::uint64_t, 4> tokens_{};
  std::uint64_t marks_ = 0;
  std::uint64_t awaited_ = 0;
};

/// From the send buffer into the peer's exposed memory.
template <typename Progress>
class PutLink : public OneSidedLink<PutLink<Progress>, Progress> {
  using Base = OneSidedLink<PutLink<Progress>, Progress>;

 public:
  static constexpr bool fetches = false;

  PutLink(const UcxWorker& worker, ucp_ep_h endpoint, Progress& progress, Exchange exchange)
      : Base(worker, endpoint, progress, false, std::move(exchange)) {}

  ucs_status_ptr_t start_send(const std::byte* data, std::size_t bytes,
                              const ucp_request_param_t& params) {
    return ucp_put_nbx(this->endpoint_, data, bytes, this->peer().address() + this->place_,
                       this->peer().key(), &params);
  }

  /// The next number, of what this side puts and of what it waits for, in the last byte of a
  /// message: ucx_perftest's way to see that one has come.
  void number(std::uint8_t value) { write(this->buffers_.send, this->buffers_.send_kind, value); }
  void await_number(std::uint8_t value) {
    this->progress_.until([&] { return read() == value; });
  }
  /// What the receive buffer ends with until the first number comes.
  void forget_number(std::uint8_t value) {
    write(this->buffers_.receive, this->buffers_.receive_kind, value);
  }

 private:
  void write(std::byte* buffer, MemoryKind kind, std::uint8_t value) {
    auto* last = buffer + this->buffers_.bytes - 1;
    if (on_host(kind)) {
      *reinterpret_cast<volatile std::uint8_t*>(last) = value;
    } else {
      copy_bytes(kind, last, &value, 1);
    }
  }
  std::uint8_t read() const {
    const auto* last = this->buffers_.receive + this->buffers_.bytes - 1;
    if (on_host(this->buffers_.receive_kind)) {
      return *reinterpret_cast<const volatile std::uint8_t*>(last);
    }
    std::uint8_t value = 0;
    copy_bytes(this->buffers_.receive_kind, &value, last, 1);
    return value;
  }
};

/// From the peer's exposed memory into the receive buffer.
template <typename Progress>
class GetLink : public OneSidedLink<GetLink<Progress>, Progress> {
  using Base = OneSidedLink<GetLink<Progress>, Progress>;

 public:
  static constexpr bool fetches = true;

  GetLink(const UcxWorker& worker, ucp_ep_h endpoint, Progress& progress, Exchange exchange)
      : Base(worker, endpoint, progress, false, std::move(exchange)) {}

  /// As of many, also where it is one at a time: ucx_perftest's get test has no other.
  void use(LinkBuffers buffers) {
    buffers.many_sends = true;
    Base::use(buffers);
    this->incoming_.describe(this->send_params_, buffers.receive_handle);
  }

  ucs_status_ptr_t start_send(const std::byte* /*data*/, std::size_t bytes,
                              const ucp_request_param_t& params) {
    return ucp_get_nbx(this->endpoint_, this->buffers_.receive + this->place_, bytes,
                       this->peer().address() + this->place_, this->peer().key(), &params);
  }
};

/// Fetch-add, swap or compare-and-swap of the first 4 or 8 bytes of the peer's exposed memory.
template <typename Progress>
class AtomicLink : public OneSidedLink<AtomicLink<Progress>, Progress> {
  using Base = OneSidedLink<AtomicLink<Progress>, Progress>;

 public:
  static constexpr bool fetches = true;

  AtomicLink(const UcxWorker& worker, ucp_ep_h endpoint, Progress& progress, Exchange exchange,
             Api api)
      : Base(worker, endpoint, progress, true, std::move(exchange)),
        operation_(api == Api::fadd   ? UCP_ATOMIC_OP_ADD
                   : api == Api::swap ? UCP_ATOMIC_OP_SWAP
                                      : UCP_ATOMIC_OP_CSWAP) {}

  /// As of many, likewise.
  void use(LinkBuffers buffers) {
    buffers.many_sends = true;
    Base::use(buffers);
    this->send_params_.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    this->send_params_.datatype = ucp_dt_make_contig(buffers.bytes);
    this->send_params_.reply_buffer = &reply_;
  }

  /// Of operations from now on. fadd adds `operand`, swap writes it; cswap writes `reply`, which
  /// the answer replaces, where `operand` is found.
  void set(std::uint64_t operand, std::uint64_t reply) {
    operand_ = operand;
    reply_ = reply;
  }
  /// What the last operation has found, of the width of the buffers.
  std::uint64_t found() const { return reply_; }

  ucs_status_ptr_t start_send(const std::byte* /*data*/, std::size_t /*bytes*/,
                              const ucp_request_param_t& params) {
    return ucp_atomic_op_nbx(this->endpoint_, operation_, &operand_, 1, this->peer().address(),
                             this->peer().key(), &params);
  }

 private:
  ucp_atomic_op_t operation_;
  std::uint64_t operand_ = 0;
  std::uint64_t reply_ = 0;  // little endian: of 4 bytes the lower half
};

}  // namespace ucxbench
