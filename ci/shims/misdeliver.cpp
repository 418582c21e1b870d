// Preloaded into ranks by the tests: spoils messages on their way into memory, from one of them on,
// while UCX and the program take all of them for received.
//   MISDELIVER_ACTION  elsewhere: the bytes come into other memory
//                      previous: those of the message before it of the same size come instead
//                      late: the bytes come when the rank has announced its next phase
//                      swap: of two messages of one size that are under way at once each gets the
//                      other's
//                      earlier: those of the message of the same size, in the same place among
//                      those, two phases with messages before come instead, where there was one
//                      cut: the last 16 bytes do not come
//                      behind: what is put or got comes just before the rank's next message, of
//                      whatever size, and flushes end at once
//                      nothing: all is as it should be
//                      stale: so it is, too; those count as spoilt whose place still has what came
//                      there last when a phase uses it for the first time
//   MISDELIVER_FROM    how many messages of a rank come before the first that is spoilt
//   MISDELIVER_PHASE   where it is set, messages of phases alone whose announcement has this text
//                      are spoilt, or counted
//   MISDELIVER_COUNT   where it is set, no more than so many are spoilt; those of each announced
//   phase
//                      are counted from its begin
//   MISDELIVER_FOLDER  where each rank leaves a file, named after its process, with how many
//                      messages it had and how many of them were spoilt
// A message is what has 100 B at least: signals, counts of rows and the like stay as they are.
// Those that are put or got are messages of who puts or gets them. An atomic operation whose answer
// is awaited is one, too; it is done as it was asked for, or not at all.

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shim.hpp"

namespace {

using Bytes = std::vector<char>;

constexpr std::size_t least_bytes = 100;
constexpr std::size_t cut_bytes = 16;

/// Where a message goes: one stretch of memory, or the parts of a list.
class Place {
 public:
  Place(void* buffer, std::size_t count, const ucp_request_param_t& parameters) {
    const bool has_type = (parameters.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) != 0;
    if (has_type && parameters.datatype == ucp_dt_make_iov()) {
      const auto* parts = static_cast<const ucp_dt_iov_t*>(buffer);
      parts_.assign(parts, parts + count);
    } else {
      parts_ = {{.buffer = buffer, .length = count}};
    }
    for (const auto& part : parts_) bytes_ += part.length;
  }

  std::size_t bytes() const { return bytes_; }
  const void* begin() const { return parts_.front().buffer; }
  Bytes read() const {
    Bytes all;
    for (const auto& part : parts_) {
      const auto* begin = static_cast<const char*>(part.buffer);
      all.insert(all.end(), begin, begin + part.length);
    }
    return all;
  }
  void write(const Bytes& bytes) const {
    std::size_t at = 0;
    for (const auto& part : parts_) {
      if (at >= bytes.size()) return;
      // What comes late may come where no memory is any more.
      const auto length = std::min(part.length, bytes.size() - at);
      const iovec from{const_cast<char*>(bytes.data()) + at, length};
      const iovec to{part.buffer, length};
      if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) < 0) return;
      at += part.length;
    }
  }

 private:
  std::vector<ucp_dt_iov_t> parts_;
  std::size_t bytes_ = 0;
};

class Plan {
 public:
  Plan()
      : action_(variable("MISDELIVER_ACTION")),
        from_(std::strtoull(variable("MISDELIVER_FROM").c_str(), nullptr, 10)),
        most_(variable("MISDELIVER_COUNT").empty()
                  ? std::numeric_limits<std::uint64_t>::max()
                  : std::strtoull(variable("MISDELIVER_COUNT").c_str(), nullptr, 10)),
        active_(!variable("UCXBENCH_INTERNAL_RANK").empty() && !action_.empty()) {}
  ~Plan() { count(); }

  bool takes(std::size_t bytes) const {
    return active_ && bytes >= least_bytes && (phase_.empty() || in_phase_);
  }
  /// Of puts: gets that go on when their target has gone would end it.
  bool ends_flushes() const { return keeps_puts_ && takes(least_bytes); }
  /// A put that has not been posted; `post` does that.
  bool keeps_put(std::size_t bytes, std::function<void()> post) {
    if (action_ != "behind" || !takes(bytes)) return false;
    const std::lock_guard lock(mutex_);
    ++messages_;
    ++spoilt_;
    late_.push_back(std::move(post));
    keeps_puts_ = true;
    return true;
  }
  /// A message is asked for.
  void expects(const Place& place) {
    if (action_ != "stale") return;
    const std::lock_guard lock(mutex_);
    const auto last = came_.find(place.begin());
    if (!used_.insert(place.begin()).second || last == came_.end()) return;
    spoilt_ += last->second == place.read() ? 1 : 0;
  }
  void came(const Place& place) {
    if (action_ != "stale") return;
    const std::lock_guard lock(mutex_);
    came_[place.begin()] = place.read();
  }
  /// The rank sends a message, puts or gets.
  void sends() {
    if (action_ != "behind") return;
    const std::lock_guard lock(mutex_);
    keeps_puts_ = false;
    for (const auto& come : std::exchange(late_, {})) come();
  }

  /// One message more, whose bytes are there: `write` puts some into its place, `tell` tells the
  /// program that it has it. One that cannot wait is not swapped but gets the bytes before it.
  void deliver(Bytes bytes, std::function<void(const Bytes&)> write, std::function<void()> tell,
               bool can_wait = true) {
    const std::lock_guard lock(mutex_);
    const auto number = messages_++ - before_phase_;
    const bool is_spoilt =
        number >= from_ && number - from_ < most_ && action_ != "nothing" && action_ != "stale";
    auto before = std::exchange(last_[bytes.size()], bytes);
    if (action_ == "earlier") of_phases_.back()[bytes.size()].push_back(bytes);
    if (!is_spoilt) {
      write(bytes);
    } else if (action_ == "swap" && can_wait) {
      return hold({std::move(bytes), std::move(write), std::move(tell)});
    } else {
      ++spoilt_;
      if (action_ == "previous" || action_ == "swap") write(before);
      if (action_ == "earlier") write(two_phases_before(bytes));
      if (action_ == "cut") write({bytes.begin(), bytes.end() - cut_bytes});
      if (action_ == "late" || action_ == "behind") {
        late_.push_back([bytes, write] { write(bytes); });
      }
    }
    tell();
  }

  void announced(std::string_view frame) {
    const std::lock_guard lock(mutex_);
    if (!variable("MISDELIVER_COUNT").empty()) before_phase_ = messages_;
    if (!of_phases_.back().empty()) of_phases_.emplace_back();
    used_.clear();
    in_phase_ = frame.find(phase_) != std::string_view::npos;
    keeps_puts_ = false;
    for (const auto& write : std::exchange(late_, {})) write();
    count();
  }

  /// A message that waits for another one goes on alone.
  void progressed() {
    const std::lock_guard lock(mutex_);
    constexpr int longest_wait = 200;
    if (held_.empty() || ++waited_ < longest_wait) return;
    for (const auto& [size, message] : std::exchange(held_, {})) {
      message.write(message.bytes);
      message.tell();
    }
  }

 private:
  struct Held {
    Bytes bytes;
    std::function<void(const Bytes&)> write;
    std::function<void()> tell;
  };

  void count() const {
    if (!active_) return;
    std::ofstream(variable("MISDELIVER_FOLDER") + "/" + std::to_string(getpid()))
        << messages_ << " " << spoilt_ << "\n";
  }

  Bytes two_phases_before(const Bytes& bytes) {
    const auto place = of_phases_.back()[bytes.size()].size();
    if (of_phases_.size() < 3) return bytes;
    const auto& then = (*(of_phases_.end() - 3))[bytes.size()];
    return then.size() < place ? bytes : then[place - 1];
  }

  void hold(Held message) {
    waited_ = 0;
    const auto size = message.bytes.size();
    const auto found = held_.find(size);
    if (found == held_.end()) {
      held_.emplace(size, std::move(message));
      return;
    }
    const auto first = std::move(found->second);
    held_.erase(found);
    spoilt_ += first.bytes == message.bytes ? 0 : 2;
    first.write(message.bytes);
    message.write(first.bytes);
    first.tell();
    message.tell();
  }

  const std::string action_;
  const std::uint64_t from_, most_;
  const std::string phase_ = variable("MISDELIVER_PHASE");
  const bool active_;
  bool in_phase_ = false;
  bool keeps_puts_ = false;
  std::recursive_mutex mutex_;
  std::uint64_t messages_ = 0, spoilt_ = 0, before_phase_ = 0;
  std::map<std::size_t, Bytes> last_;                                    ///< by size
  std::vector<std::map<std::size_t, std::vector<Bytes>>> of_phases_{1};  ///< likewise
  std::map<std::size_t, Held> held_;
  std::map<const void*, Bytes> came_;  ///< by place, the last
  std::set<const void*> used_;         ///< places, in this phase
  int waited_ = 0;
  std::vector<std::function<void()>> late_;
};

Plan& plan() {
  static Plan instance;
  return instance;
}

/// A receive or a get that UCX carries out into memory of the shim.
struct Taken {
  Place place;
  ucp_request_param_t theirs;
  Bytes bytes = Bytes(place.bytes());
  // Which of them is called, is the operation's.
  ucp_tag_recv_info_t info{};
  std::size_t length = 0;

  void over(ucs_status_t status, const std::function<void()>& tell) {
    const std::unique_ptr<Taken> self(this);
    if (status != UCS_OK) return tell();
    auto into = place;
    plan().deliver(
        std::move(bytes),
        [into](const Bytes& all) {
          into.write(all);
          plan().came(into);
        },
        tell);
  }
};

/// As it was asked for, but into contiguous memory of another kind, and always with a callback.
ucp_request_param_t ours(const ucp_request_param_t& theirs, Taken* taken) {
  auto params = theirs;
  params.op_attr_mask &= ~static_cast<unsigned>(UCP_OP_ATTR_FIELD_MEMH);
  params.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_DATATYPE;
  params.datatype = ucp_dt_make_contig(1);
  params.user_data = taken;
  return params;
}

bool has_callback(const ucp_request_param_t& params) {
  constexpr unsigned both = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  return (params.op_attr_mask & both) == both;
}

/// Of an active message that is not received by rendezvous: its handler, behind the shim's.
struct Handler {
  ucp_am_recv_callback_t call;
  void* argument;
};

ucs_status_t spoil_eager(void* argument, const void* header, size_t header_length, void* data,
                         size_t length, const ucp_am_recv_param_t* param) {
  const auto& handler = *static_cast<Handler*>(argument);
  const bool is_here = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  if (!is_here || !plan().takes(length)) {
    return handler.call(handler.argument, header, header_length, data, length, param);
  }
  const auto* begin = static_cast<const char*>(data);
  const auto header_bytes = header == nullptr
                                ? Bytes()
                                : Bytes(static_cast<const char*>(header),
                                        static_cast<const char*>(header) + header_length);
  const auto what = std::make_shared<Bytes>(length);
  const auto how = std::make_shared<ucp_am_recv_param_t>(*param);
  // The handler may not keep what is the shim's.
  how->recv_attr &= ~static_cast<std::uint64_t>(UCP_AM_RECV_ATTR_FLAG_DATA);
  plan().deliver(
      {begin, begin + length},
      [what](const Bytes& bytes) { std::copy(bytes.begin(), bytes.end(), what->begin()); },
      [&handler, header_bytes, what, how] {
        handler.call(handler.argument, header_bytes.data(), header_bytes.size(), what->data(),
                     what->size(), how.get());
      });
  return UCS_OK;
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t* theirs) {
  static const auto real = next<decltype(ucp_tag_recv_nbx)>("ucp_tag_recv_nbx");
  const Place place(buffer, count, *theirs);
  if (!plan().takes(place.bytes()) || !has_callback(*theirs)) {
    return real(worker, buffer, count, tag, mask, theirs);
  }
  plan().expects(place);
  auto* taken = new Taken{.place = place, .theirs = *theirs};
  auto params = ours(*theirs, taken);
  params.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                      void* user) {
    auto& self = *static_cast<Taken*>(user);
    self.over(status, [request, status, told = *info, theirs = self.theirs] {
      theirs.cb.recv(request, status, &told, theirs.user_data);
    });
  };
  return real(worker, taken->bytes.data(), taken->bytes.size(), tag, mask, &params);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* data, void* buffer, size_t count,
                                      const ucp_request_param_t* theirs) {
  static const auto real = next<decltype(ucp_am_recv_data_nbx)>("ucp_am_recv_data_nbx");
  const Place place(buffer, count, *theirs);
  if (!plan().takes(place.bytes()) || !has_callback(*theirs)) {
    return real(worker, data, buffer, count, theirs);
  }
  plan().expects(place);
  auto* taken = new Taken{.place = place, .theirs = *theirs};
  auto params = ours(*theirs, taken);
  params.cb.recv_am = [](void* request, ucs_status_t status, size_t length, void* user) {
    auto& self = *static_cast<Taken*>(user);
    self.over(status, [request, status, length, theirs = self.theirs] {
      theirs.cb.recv_am(request, status, length, theirs.user_data);
    });
  };
  return real(worker, data, taken->bytes.data(), taken->bytes.size(), &params);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t* theirs) {
  static const auto real =
      next<decltype(ucp_worker_set_am_recv_handler)>("ucp_worker_set_am_recv_handler");
  auto params = *theirs;
  if (params.cb != nullptr) {
    params.arg = new Handler{params.cb, params.arg};  // a message may come for as long as it likes
    params.cb = spoil_eager;
  }
  return real(worker, &params);
}

// What comes of a stream may be any part of what is asked for: it is spoilt in its place.
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h endpoint, void* buffer, size_t count, size_t* length,
                                     const ucp_request_param_t* theirs) {
  static const auto real = next<decltype(ucp_stream_recv_nbx)>("ucp_stream_recv_nbx");
  const Place place(buffer, count, *theirs);
  if (!plan().takes(place.bytes()) || !has_callback(*theirs)) {
    return real(endpoint, buffer, count, length, theirs);
  }
  auto* taken = new Taken{.place = place, .theirs = *theirs};
  auto params = *theirs;
  params.op_attr_mask &= ~static_cast<unsigned>(UCP_OP_ATTR_FIELD_MEMH);
  params.datatype = ucp_dt_make_contig(1);
  params.user_data = taken;
  params.cb.recv_stream = [](void* request, ucs_status_t status, size_t came, void* user) {
    auto& self = *static_cast<Taken*>(user);
    self.bytes.resize(came);
    self.over(status, [request, status, came, theirs = self.theirs] {
      theirs.cb.recv_stream(request, status, came, theirs.user_data);
    });
  };
  auto* request = real(endpoint, taken->bytes.data(), taken->bytes.size(), length, &params);
  if (UCS_PTR_IS_PTR(request)) return request;
  taken->bytes.resize(request == nullptr ? *length : 0);
  taken->over(UCS_PTR_STATUS(request), [] {});
  return request;
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h endpoint, void* buffer, size_t count, uint64_t address,
                             ucp_rkey_h key, const ucp_request_param_t* theirs) {
  static const auto real = next<decltype(ucp_get_nbx)>("ucp_get_nbx");
  plan().sends();
  const Place place(buffer, count, *theirs);
  if (!plan().takes(place.bytes()) || !has_callback(*theirs)) {
    return real(endpoint, buffer, count, address, key, theirs);
  }
  plan().expects(place);
  auto* taken = new Taken{.place = place, .theirs = *theirs};
  auto params = ours(*theirs, taken);
  params.cb.send = [](void* request, ucs_status_t status, void* user) {
    auto& self = *static_cast<Taken*>(user);
    self.over(status, [request, status, theirs = self.theirs] {
      theirs.cb.send(request, status, theirs.user_data);
    });
  };
  return real(endpoint, taken->bytes.data(), taken->bytes.size(), address, key, &params);
}

// A put is spoilt by who puts, as it is posted. What comes late comes to nobody: it would need
// another put.
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h endpoint, const void* buffer, size_t count, uint64_t address,
                             ucp_rkey_h key, const ucp_request_param_t* theirs) {
  static const auto real = next<decltype(ucp_put_nbx)>("ucp_put_nbx");
  plan().sends();
  const Place place(const_cast<void*>(buffer), count, *theirs);
  const bool is_list = (theirs->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) != 0 &&
                       theirs->datatype == ucp_dt_make_iov();
  if (!plan().takes(place.bytes()) || is_list) {
    return real(endpoint, buffer, count, address, key, theirs);
  }
  const auto* begin = static_cast<const char*>(buffer);
  // Never freed: UCX may still read it for as long as it likes.
  auto* what = new Bytes();
  const auto post = [=, bytes = Bytes(begin, begin + count)] {
    *what = bytes;
    const ucp_request_param_t plain{};
    auto* request = real(endpoint, what->data(), what->size(), address, key, &plain);
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
  };
  if (plan().keeps_put(count, post)) return nullptr;
  plan().deliver(
      {begin, begin + count}, [what](const Bytes& bytes) { *what = bytes; }, [] {}, false);
  auto params = *theirs;
  params.op_attr_mask &= ~static_cast<unsigned>(UCP_OP_ATTR_FIELD_MEMH);
  return real(endpoint, what->data(), what->size(), address, key, &params);
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* params) {
  static const auto real = next<decltype(ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  plan().sends();
  return real(endpoint, buffer, count, tag, params);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h endpoint, const ucp_request_param_t* params) {
  static const auto real = next<decltype(ucp_ep_flush_nbx)>("ucp_ep_flush_nbx");
  return plan().ends_flushes() ? nullptr : real(endpoint, params);
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t* params) {
  static const auto real = next<decltype(ucp_worker_flush_nbx)>("ucp_worker_flush_nbx");
  return plan().ends_flushes() ? nullptr : real(worker, params);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h endpoint, ucp_atomic_op_t operation, const void* buffer,
                                   size_t count, uint64_t address, ucp_rkey_h key,
                                   const ucp_request_param_t* params) {
  static const auto real = next<decltype(ucp_atomic_op_nbx)>("ucp_atomic_op_nbx");
  const bool is_answered = (params->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) != 0;
  const auto is_done = std::make_shared<bool>(!is_answered || !plan().takes(least_bytes));
  if (!*is_done) {
    plan().deliver(Bytes(least_bytes), [is_done](const Bytes&) { *is_done = true; }, [] {}, false);
  }
  return *is_done ? real(endpoint, operation, buffer, count, address, key, params) : nullptr;
}

unsigned ucp_worker_progress(ucp_worker_h worker) {
  static const auto real = next<decltype(ucp_worker_progress)>("ucp_worker_progress");
  const auto done = real(worker);
  plan().progressed();
  return done;
}

ssize_t send(int fd, const void* bytes, size_t length, int flags) {
  static const auto real = next<ssize_t(int, const void*, size_t, int)>("send");
  constexpr std::string_view announcement = "phase";
  const std::string_view frame(static_cast<const char*>(bytes), length);
  if (frame.find(announcement) != std::string_view::npos) plan().announced(frame);
  return real(fd, bytes, length, flags);
}

}  // extern "C"
