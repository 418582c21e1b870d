#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/link.hpp"
#include "harness/comm/progress.hpp"
#include "harness/comm/ucx_message.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {

/// UCX's own words about a request that is complete; empty where it has none.
inline std::string words_of(void* request) {
  std::array<char, 1024> text{};
  ucp_request_attr_t attributes{};
  attributes.field_mask =
      UCP_REQUEST_ATTR_FIELD_INFO_STRING | UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
  attributes.debug_string = text.data();
  attributes.debug_string_size = text.size();
  return ucp_request_query(request, &attributes) == UCS_OK ? text.data() : "";
}

// What the two APIs share: the sending side, and the hot loops' view of completions. The request
// parameters are made once; the mask is exactly ucx_perftest's (tools/perf/lib/ucp_tests.cc,
// fill_send_params), a NULL return is a message that is complete already.
template <typename Api, typename Progress>
class LinkBase {
 public:
  LinkBase(ucp_worker_h worker, ucp_ep_h endpoint, Progress& progress)
      : worker_(worker), endpoint_(endpoint), progress_(progress), endpoints_{endpoint} {
    use({});
  }
  LinkBase(const LinkBase&) = delete;
  LinkBase& operator=(const LinkBase&) = delete;

  /// Endpoints to the same peer, which messages take one after the other; the first is the one that
  /// signals take. The peer's link has as many, in the same order.
  void take_in_turn(std::span<const ucp_ep_h> endpoints) {
    endpoints_.assign(endpoints.begin(), endpoints.end());
    use(buffers_);
  }

  void use(const LinkBuffers& buffers) {
    buffers_ = buffers;
    varies_ = buffers.places > 1 || endpoints_.size() > 1;
    first_ = buffers;
    sent_ = received_ = place_ = 0;
    send_params_.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    if (buffers.many_sends) send_params_.op_attr_mask |= UCP_OP_ATTR_FLAG_MULTI_SEND;
    if (buffers.requests) send_params_.op_attr_mask |= request_flag_;
    send_params_.datatype = ucp_dt_make_contig(1);
    signal_params_ = send_params_;
    outgoing_.use(buffers.send, buffers.bytes, buffers.form.entries);
    incoming_.use(buffers.receive, buffers.bytes, buffers.form.entries);
    outgoing_.describe(send_params_, buffers.send_handle);
    send_params_.cb.send = [](void* request, ucs_status_t status, void* self) {
      static_cast<LinkBase*>(self)->sent(request, status);
    };
    send_params_.user_data = this;
    signal_params_.cb = send_params_.cb;
    signal_params_.user_data = this;
  }

  bool can_send() const { return sends_ < buffers_.window; }

  /// Posts one message; waits first while the window is full.
  void send() {
    progress_.until([this] { return can_send(); });
    if (varies_) [[unlikely]] {
      place_ = buffers_.offset(sent_);
      buffers_.send = first_.send + place_;
      outgoing_.move_to(buffers_.send);
      endpoint_ = endpoints_[sent_++ % endpoints_.size()];
    }
    post_send(outgoing_.data(), outgoing_.count(), send_params_);
  }

  void wait_sends() {
    progress_.until([this] { return sends_ == 0; });
    check(error_.load(std::memory_order_relaxed), "a send");
  }

  /// One byte in order with the messages: "go", or a final acknowledgement.
  void signal() {
    static constexpr std::byte token{0x5a};
    endpoint_ = endpoints_.front();
    post_send(&token, 1, signal_params_);
    wait_sends();
  }

  /// Sends one message as send() does, waits for it, and returns UCX's own words about the request.
  std::string send_described() {
    auto params = send_params_;
    endpoint_ = endpoints_[sent_++ % endpoints_.size()];
    params.op_attr_mask &= ~static_cast<unsigned>(UCP_OP_ATTR_FIELD_CALLBACK);
    params.op_attr_mask |= request_flag_;
    auto* request =
        static_cast<Api*>(this)->start_send(outgoing_.data(), outgoing_.count(), params);
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "posting a send");
    if (request == nullptr) return "";
    while (ucp_request_check_status(request) == UCS_INPROGRESS) progress_.turn();
    auto words = words_of(request);
    ucp_request_free(request);
    return words;
  }

  /// Everything sent has reached the peer's side of the transport.
  void flush() {
    ucp_request_param_t params{};
    auto* request = ucp_worker_flush_nbx(worker_, &params);
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "ucp_worker_flush_nbx");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) progress_.turn();
    ucp_request_free(request);
  }

  Progress& progress() { return progress_; }
  const LinkBuffers& buffers() const { return buffers_; }

 protected:
  void post_send(const std::byte* data, std::size_t count, const ucp_request_param_t& params) {
    // Counted before the call: with a progress thread the callback may come first.
    ++sends_;
    auto* request = static_cast<Api*>(this)->start_send(data, count, params);
    if (UCS_PTR_IS_PTR(request)) return;
    --sends_;
    if (request != nullptr) check(UCS_PTR_STATUS(request), "posting a send");
  }

  /// Before each message that comes.
  void take_next_place() {
    if (varies_) [[unlikely]] {
      buffers_.receive = first_.receive + buffers_.offset(received_);
      incoming_.move_to(buffers_.receive);
      receives_from_ = endpoints_[received_++ % endpoints_.size()];
    }
  }

  void note(ucs_status_t status) {
    if (status != UCS_OK) error_.store(status, std::memory_order_relaxed);
  }

  /// Signals come by the first.
  void take_first_endpoint() { receives_from_ = endpoints_.front(); }

  ucp_worker_h worker_;
  ucp_ep_h endpoint_;                   // of the next send
  ucp_ep_h receives_from_ = endpoint_;  // of the next receive of a stream
  Progress& progress_;
  LinkBuffers buffers_;             // of the message under way, where there are several places
  std::size_t place_ = 0;           // of the message that is sent, in bytes
  UcxMessage outgoing_, incoming_;  // likewise
  std::atomic<ucs_status_t> error_ = UCS_OK;  // a progress thread may write it
  ucp_request_param_t send_params_{};
  ucp_request_param_t signal_params_{};
  unsigned request_flag_ = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;  // asks for a request in any case

 private:
  void sent(void* request, ucs_status_t status) {
    note(status);
    ucp_request_free(request);
    --sends_;
    progress_.completed();
  }

  LinkBuffers first_;
  std::vector<ucp_ep_h> endpoints_;
  bool varies_ = false;                  // there are several places or endpoints
  std::size_t sent_ = 0, received_ = 0;  // messages, counted where there are
  typename Progress::Count sends_ = 0;
};

/// Tagged messages. Data and one-byte signals have tags of their own, and so has each thread; the
/// worker has one peer.
template <typename Progress>
class TagLink : public LinkBase<TagLink<Progress>, Progress> {
  using Base = LinkBase<TagLink<Progress>, Progress>;

 public:
  TagLink(ucp_worker_h worker, ucp_ep_h endpoint, Progress& progress, unsigned thread = 0)
      : Base(worker, endpoint, progress), data_tag_(2 * thread + 1) {
    receive_params_.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    receive_params_.datatype = ucp_dt_make_contig(1);
    receive_params_.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t*,
                                 void* self) {
      static_cast<TagLink*>(self)->received(request, status);
    };
    receive_params_.user_data = this;
    token_params_ = receive_params_;
  }

  void use(const LinkBuffers& buffers) {
    Base::use(buffers);
    this->incoming_.describe(receive_params_, buffers.receive_handle);
  }

  /// Of unexpected messages, only when one is there: UCX has it, and no receive for it.
  bool can_receive() const {
    return receives_ < this->buffers_.window && (!this->buffers_.form.unexpected || is_there());
  }

  /// Posts one receive without waiting for its message, which wait_receives() does.
  void receive() {
    this->progress_.until([this] { return can_receive(); });
    this->take_next_place();
    post_receive(this->incoming_.data(), this->incoming_.count(), data_tag_, receive_params_);
  }
  void start_receive() { receive(); }

  void wait_receives() {
    this->progress_.until([this] { return receives_ == 0; });
    check(this->error_.load(std::memory_order_relaxed), "a receive");
  }

  void await_signal() {
    std::byte token{};
    post_receive(&token, 1, data_tag_ + 1, token_params_);
    wait_receives();
  }

  ucs_status_ptr_t start_send(const std::byte* data, std::size_t bytes,
                              const ucp_request_param_t& params) {
    const bool is_data = data == this->outgoing_.data();
    return ucp_tag_send_nbx(this->endpoint_, data, bytes, is_data ? data_tag_ : data_tag_ + 1,
                            &params);
  }

 private:
  static constexpr ucp_tag_t whole_tag = ~ucp_tag_t{0};

  // As ucx_perftest's -U: the message stays where it is.
  bool is_there() const {
    ucp_tag_recv_info_t info{};
    return ucp_tag_probe_nb(this->worker_, data_tag_, whole_tag, 0, &info) != nullptr;
  }

  void post_receive(std::byte* data, std::size_t count, ucp_tag_t tag,
                    const ucp_request_param_t& params) {
    ++receives_;
    auto* request = ucp_tag_recv_nbx(this->worker_, data, count, tag, whole_tag, &params);
    if (UCS_PTR_IS_PTR(request)) return;
    --receives_;
    if (request != nullptr) check(UCS_PTR_STATUS(request), "posting a receive");
  }

  void received(void* request, ucs_status_t status) {
    this->note(status);
    ucp_request_free(request);
    --receives_;
    this->progress_.completed();
  }

  ucp_tag_t data_tag_;  // signals have the next
  ucp_request_param_t receive_params_{};
  ucp_request_param_t token_params_{};
  typename Progress::Count receives_ = 0;
};

/// The byte stream of one endpoint. A receive takes what has come, in order, so one is outstanding
/// at a time and receive() returns with the whole message, as ucx_perftest's recv_stream does.
template <typename Progress>
class StreamLink : public LinkBase<StreamLink<Progress>, Progress> {
  using Base = LinkBase<StreamLink<Progress>, Progress>;

 public:
  StreamLink(ucp_worker_h worker, ucp_ep_h endpoint, Progress& progress)
      : Base(worker, endpoint, progress) {
    params_.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    params_.datatype = ucp_dt_make_contig(1);
    params_.cb.recv_stream = [](void* request, ucs_status_t status, std::size_t length,
                                void* self) {
      static_cast<StreamLink*>(self)->received(request, status, length);
    };
    params_.user_data = this;
    whole_params_ = params_;
    whole_params_.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    whole_params_.flags = UCP_STREAM_RECV_FLAG_WAITALL;
  }

  bool can_receive() const { return receives_ == 0; }

  void use(const LinkBuffers& buffers) {
    Base::use(buffers);
    this->incoming_.describe(whole_params_, nullptr);
  }

  void receive() {
    // What has come of a list could end within a part: the rest would be another list.
    if (this->buffers_.form.entries > 0) [[unlikely]] {
      start_receive();
      return wait_receives();
    }
    this->take_next_place();
    take(this->buffers_.receive, this->buffers_.bytes);
  }
  void wait_receives() {
    this->progress_.until([this] { return receives_ == 0; });
    check(this->error_.load(std::memory_order_relaxed), "a receive");
  }

  /// Begins the receive of one whole message and returns: for traffic in both directions.
  void start_receive() {
    wait_receives();
    this->take_next_place();
    post(this->incoming_.data(), this->incoming_.count(), whole_params_);
  }

  void await_signal() {
    std::byte token{};
    this->take_first_endpoint();
    take(&token, 1);
  }

  ucs_status_ptr_t start_send(const std::byte* data, std::size_t bytes,
                              const ucp_request_param_t& params) {
    return ucp_stream_send_nbx(this->endpoint_, data, bytes, &params);
  }

 private:
  void take(std::byte* data, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      if (!post(data + done, bytes - done, params_)) wait_receives();
      done += length_;
    }
  }

  // True when data were there already; length_ says how many bytes, then or after the completion.
  bool post(std::byte* data, std::size_t count, const ucp_request_param_t& params) {
    ++receives_;
    std::size_t length = 0;
    auto* request = ucp_stream_recv_nbx(this->receives_from_, data, count, &length, &params);
    if (UCS_PTR_IS_PTR(request)) return false;
    --receives_;
    if (request != nullptr) check(UCS_PTR_STATUS(request), "posting a receive");
    length_ = length;
    return true;
  }

  void received(void* request, ucs_status_t status, std::size_t length) {
    this->note(status);
    length_ = length;
    ucp_request_free(request);
    --receives_;
    this->progress_.completed();
  }

  ucp_request_param_t params_{};
  ucp_request_param_t whole_params_{};
  std::size_t length_ = 0;
  typename Progress::Count receives_ = 0;
};

}  // namespace ucxbench
