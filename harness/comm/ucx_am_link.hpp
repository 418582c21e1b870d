#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "harness/comm/ucx_links.hpp"

namespace ucxbench {

/// Active messages. An eager one is copied into the receive buffer by the handler, as ucx_perftest
/// does with -y; one by rendezvous is received there. Nothing is posted before it comes, so both
/// sides must have their links before either sends, and must not change the receive buffer while
/// the peer may send. The handler copies a header, as a user's would read it.
template <typename Progress>
class AmLink : public LinkBase<AmLink<Progress>, Progress> {
  using Base = LinkBase<AmLink<Progress>, Progress>;

 public:
  AmLink(ucp_worker_h worker, ucp_ep_h endpoint, Progress& progress, unsigned thread = 0)
      : Base(worker, endpoint, progress), data_id_(2 * thread + 1) {
    receive_params_.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    receive_params_.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* self) {
      ucp_request_free(request);
      static_cast<AmLink*>(self)->arrived(status);
    };
    receive_params_.user_data = this;
    this->incoming_.describe(receive_params_, nullptr);
    handle(data_id_, [](void* self, const void* header, std::size_t header_bytes, void* data,
                        std::size_t bytes, const ucp_am_recv_param_t* how) {
      auto& link = *static_cast<AmLink*>(self);
      return link.take_header(header, header_bytes) ? link.take(data, bytes, how->recv_attr)
                                                    : UCS_OK;
    });
    handle(data_id_ + 1, [](void* self, const void*, std::size_t, void*, std::size_t,
                            const ucp_am_recv_param_t*) {
      auto& link = *static_cast<AmLink*>(self);
      ++link.signals_;
      link.progress().completed();
      return UCS_OK;
    });
  }
  ~AmLink() {
    handle(data_id_, nullptr);
    handle(data_id_ + 1, nullptr);
  }
  AmLink(const AmLink&) = delete;
  AmLink& operator=(const AmLink&) = delete;

  void use(const LinkBuffers& buffers) {
    // With the flag ucp_am_send_nbx takes the list for the message (1.13.1 to 1.22.0).
    this->request_flag_ = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    if (buffers.form.entries > 0) this->request_flag_ = 0;
    Base::use(buffers);
    this->incoming_.describe(receive_params_, buffers.receive_handle);
  }

  bool can_receive() const { return receives_ < this->buffers_.window; }

  /// Counts one more message as awaited; below zero are those that came before.
  void receive() {
    this->progress_.until([this] { return can_receive(); });
    ++receives_;
  }
  void start_receive() { receive(); }

  void wait_receives() {
    this->progress_.until([this] { return receives_ <= 0; });
    check(this->error_.load(std::memory_order_relaxed), "a receive");
  }

  void await_signal() {
    this->progress_.until([this] { return signals_ > 0; });
    --signals_;
  }

  ucs_status_ptr_t start_send(const std::byte* data, std::size_t bytes,
                              const ucp_request_param_t& params) {
    if (data != this->outgoing_.data()) {
      return ucp_am_send_nbx(this->endpoint_, data_id_ + 1, nullptr, 0, data, bytes, &params);
    }
    const auto& form = this->buffers_.form;
    return ucp_am_send_nbx(this->endpoint_, data_id_, form.header, form.header_bytes, data, bytes,
                           &params);
  }

 private:
  void handle(unsigned id, ucp_am_recv_callback_t handler) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                        UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = id;
    params.flags = UCP_AM_FLAG_WHOLE_MSG;
    params.cb = handler;
    params.arg = this;
    const auto status = ucp_worker_set_am_recv_handler(this->worker_, &params);
    if (handler != nullptr) check(status, "ucp_worker_set_am_recv_handler");
  }

  // Whether it is one of the length that was agreed.
  bool take_header(const void* header, std::size_t bytes) {
    const auto& form = this->buffers_.form;
    if (bytes != form.header_bytes) {
      arrived(UCS_ERR_MESSAGE_TRUNCATED);
      return false;
    }
    if (bytes > 0) std::memcpy(form.received_header, header, bytes);
    return true;
  }

  // An eager message has one piece, however many parts the buffer has.
  void copy(const std::byte* data, std::size_t bytes) {
    if (this->incoming_.parts().empty()) {
      std::memcpy(this->buffers_.receive, data, bytes);
      return;
    }
    for (const auto& part : this->incoming_.parts()) {
      std::memcpy(part.buffer, data, part.length);
      data += part.length;
    }
  }

  ucs_status_t take(void* data, std::size_t bytes, std::uint64_t how) {
    if (bytes != this->buffers_.bytes) {
      arrived(UCS_ERR_MESSAGE_TRUNCATED);
      return UCS_OK;
    }
    this->take_next_place();
    if ((how & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
      if (on_host(this->buffers_.receive_kind)) {
        copy(static_cast<const std::byte*>(data), bytes);
      } else {
        copy_bytes(this->buffers_.receive_kind, this->buffers_.receive, data, bytes);
      }
      arrived(UCS_OK);
      return UCS_OK;
    }
    auto* request = ucp_am_recv_data_nbx(this->worker_, data, this->incoming_.data(),
                                         this->incoming_.count(), &receive_params_);
    if (!UCS_PTR_IS_PTR(request)) arrived(UCS_PTR_STATUS(request));
    return UCS_INPROGRESS;
  }

  void arrived(ucs_status_t status) {
    this->note(status);
    --receives_;
    this->progress_.completed();
  }

  unsigned data_id_;  // signals have the next
  ucp_request_param_t receive_params_{};
  typename Progress::Count receives_ = 0;
  typename Progress::Count signals_ = 0;
};

}  // namespace ucxbench
