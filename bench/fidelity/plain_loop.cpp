// plain_loop BYTES MESSAGES SENDER_CPU RECEIVER_CPU [send-books] [receive-books] [answer]
//
// Tag bandwidth as ucx_perftest's tag_bw measures it, with nothing but UCX's public calls around
// it, to find out what a difference between two tools is made of. `…-books`: that side keeps the
// books of libperf_int.h's ucx_perf_update for every message (UCX 1.13.1: a time stamp, four
// counters, a ring of 2048 times). `answer`: the receiver sends one byte before the stream. Prints
// the sender's GB/s, flush inside, and the TCP segments that the host sent meanwhile.

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/clock.hpp"

namespace {

constexpr int window = 32;
constexpr ucp_tag_t data_tag = 0x1337a880;  // ucx_perftest's
constexpr ucp_tag_t answer_tag = 1;

struct Options {
  std::size_t bytes;
  std::uint64_t messages;
  std::array<int, 2> cpus;
  bool send_books = false;
  bool receive_books = false;
  bool answer = false;
};

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

Options parse(int argc, char** argv) {
  require(argc >= 5,
          "usage: plain_loop BYTES MESSAGES SENDER_CPU RECEIVER_CPU "
          "[send-books] [receive-books] [answer]");
  Options options{
      std::stoull(argv[1]), std::stoull(argv[2]), {std::stoi(argv[3]), std::stoi(argv[4])}};
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "send-books") {
      options.send_books = true;
    } else if (word == "receive-books") {
      options.receive_books = true;
    } else {
      require(word == "answer", "the words are send-books, receive-books and answer");
      options.answer = true;
    }
  }
  return options;
}

/// What ucx_perf_update does, message by message.
struct Books {
  std::uint64_t now = 0, iterations = 0, bytes = 0, messages = 0, before = 0, reported = 0;
  std::uint64_t interval = ~std::uint64_t{0};
  std::array<std::uint64_t, 2048> ring{};
  std::size_t next = 0;

  void keep(std::uint64_t ticks, std::size_t size) {
    now = ticks;
    ++iterations;
    bytes += size;
    ++messages;
    ring[next] = now - before;
    if (++next == ring.size()) next = 0;
    before = now;
    if (now - reported >= interval) reported = now;
  }
};

class Side {
 public:
  Side(const Options& options, bool sends, int socket)
      : options_(options), sends_(sends), socket_(socket) {
    ucp_config_t* config = nullptr;
    require(ucp_config_read(nullptr, nullptr, &config) == UCS_OK, "ucp_config_read");
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    require(ucp_init(&params, config, &context_) == UCS_OK, "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t worker_params{};
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
    require(ucp_worker_create(context_, &worker_params, &worker_) == UCS_OK, "ucp_worker_create");
    connect();
    buffer_ =
        ::mmap(nullptr, options.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(buffer_ != MAP_FAILED, "mmap");
    std::memset(buffer_, 0x5a, options.bytes);
    params_.op_attr_mask =
        UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params_.datatype = ucp_dt_make_contig(1);
    params_.user_data = this;
    if (sends) {
      params_.op_attr_mask |= UCP_OP_ATTR_FLAG_MULTI_SEND;
      params_.cb.send = [](void* request, ucs_status_t, void* side) { done(request, side); };
    } else {
      params_.cb.recv = [](void* request, ucs_status_t, const ucp_tag_recv_info_t*, void* side) {
        done(request, side);
      };
    }
  }

  /// Seconds from a barrier to the end of a flush.
  double stream(std::uint64_t messages) {
    barrier();
    const auto start = std::chrono::steady_clock::now();
    if (sends_ ? options_.send_books : options_.receive_books) {
      run(messages, [this] { books_.keep(clock_.ticks(), options_.bytes); });
    } else {
      run(messages, [] {});
    }
    ucp_request_param_t nothing{};
    wait(ucp_worker_flush_nbx(worker_, &nothing));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    barrier();
    return took.count();
  }

  void answer() {
    char byte = 0;
    ucp_request_param_t nothing{};
    wait(sends_ ? ucp_tag_recv_nbx(worker_, &byte, 1, answer_tag, ~ucp_tag_t{0}, &nothing)
                : ucp_tag_send_nbx(endpoint_, &byte, 1, answer_tag, &nothing));
  }

 private:
  static void done(void* request, void* side) {
    --static_cast<Side*>(side)->outstanding_;
    ucp_request_free(request);
  }

  void connect() {
    ucp_address_t* own = nullptr;
    std::size_t length = 0;
    require(ucp_worker_get_address(worker_, &own, &length) == UCS_OK, "ucp_worker_get_address");
    require(::send(socket_, own, length, 0) == static_cast<ssize_t>(length), "send");
    ucp_worker_release_address(worker_, own);
    std::vector<char> address(65536);
    require(::recv(socket_, address.data(), address.size(), 0) > 0, "recv");
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    require(ucp_ep_create(worker_, &params, &endpoint_) == UCS_OK, "ucp_ep_create");
    barrier();
    ucp_request_param_t nothing{};
    wait(ucp_worker_flush_nbx(worker_, &nothing));
  }

  /// Outside UCX, which is progressed meanwhile.
  void barrier() {
    char byte = 0;
    require(::send(socket_, &byte, 1, 0) == 1, "send");
    while (::recv(socket_, &byte, 1, MSG_DONTWAIT) != 1) {
      require(errno == EAGAIN, "the other side is gone");
      ucp_worker_progress(worker_);
    }
  }

  void wait(ucs_status_ptr_t request) {
    require(!UCS_PTR_IS_ERR(request), "a request failed");
    if (request == nullptr) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    ucp_request_free(request);
  }

  template <typename After>
  void run(std::uint64_t messages, After after) {
    for (std::uint64_t i = 0; i < messages; ++i) {
      while (outstanding_ >= window) ucp_worker_progress(worker_);
      auto* request = sends_
                          ? ucp_tag_send_nbx(endpoint_, buffer_, options_.bytes, data_tag, &params_)
                          : ucp_tag_recv_nbx(worker_, buffer_, options_.bytes, data_tag,
                                             ~ucp_tag_t{0}, &params_);
      require(!UCS_PTR_IS_ERR(request), "a request failed");
      if (request != nullptr) ++outstanding_;
      after();
    }
    while (outstanding_ > 0) ucp_worker_progress(worker_);
  }

  const Options& options_;
  bool sends_;
  int socket_;
  ucp_context_h context_{};
  ucp_worker_h worker_{};
  ucp_ep_h endpoint_{};
  void* buffer_ = nullptr;
  ucp_request_param_t params_{};
  int outstanding_ = 0;
  ucxbench::Clock clock_ = ucxbench::Clock::calibrate();
  Books books_;
};

/// Tcp's OutSegs of this network namespace.
std::uint64_t tcp_segments() {
  std::ifstream file("/proc/net/snmp");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Tcp:")) continue;
    std::istringstream words(line);
    std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "OutSegs") return std::stoull(fields.at(i));
    }
    names = std::move(fields);
  }
  return 0;
}

int run(const Options& options) {
  std::array<int, 2> sockets{};
  require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) == 0,
          "socketpair");
  const auto parent = ::getpid();
  const auto child = ::fork();
  require(child >= 0, "fork");
  const bool sends = child != 0;
  if (!sends) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
  }
  ::close(sockets[sends ? 1 : 0]);
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(options.cpus[sends ? 0 : 1], &cpu);
  require(::sched_setaffinity(0, sizeof cpu, &cpu) == 0, "cannot be pinned there");

  Side side(options, sends, sockets[sends ? 0 : 1]);
  if (options.answer) side.answer();
  side.stream(options.messages / 2);
  const auto before = tcp_segments();
  const auto took = side.stream(options.messages);
  if (!sends) ::_exit(0);
  const auto rate = static_cast<double>(options.bytes * options.messages) / took * 1e-9;
  fmt::print("{{\"sender_GBps\": {:.6g}, \"tcp_segments\": {}}}\n", rate, tcp_segments() - before);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "plain_loop: {}\n", error.what());
    return 1;
  }
}
