// Preloaded into the ranks by the tests of rates, so that what a rate can be at most is known,
// whatever the machine. All ranks together send PACE_BYTES in PACE_US, and no more. A rank that
// PACE_HELD names ("1,2") loses its processor after whatever else it says, as after a message that
// says it is ready, until nothing has been sent for 5 ms. A clock that begins when such a rank
// looks again has missed what came, and shows a higher rate. Where PACE_CLOCK_US is set, it loses
// it for so long when it has read CLOCK_MONOTONIC for the first time since it sent data, too: what
// is between two clocks that are read one after the other then shows. PACE_FOLDER has the file
// "next", of 8 bytes.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "shim.hpp"

namespace {

constexpr std::uint64_t quiet_ns = 5'000'000;

int read_clock(clockid_t clock, timespec* now) {
  static const auto real = next<int(clockid_t, timespec*)>("clock_gettime");
  return real(clock, now);
}

std::uint64_t now_ns() {
  timespec now{};
  read_clock(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

struct Pace {
  bool of_rank = std::getenv("UCXBENCH_INTERNAL_RANK") != nullptr;
  bool held =
      of_rank &&
      ("," + variable("PACE_HELD") + ",").find("," + variable("UCXBENCH_INTERNAL_RANK") + ",") !=
          std::string::npos;
  std::size_t bytes = std::strtoull(variable("PACE_BYTES").c_str(), nullptr, 10);
  double ns_per_byte = std::atof(variable("PACE_US").c_str()) * 1e3 / static_cast<double>(bytes);
  useconds_t after_clock_us = static_cast<useconds_t>(std::atoi(variable("PACE_CLOCK_US").c_str()));
  std::atomic<std::uint64_t>* next_ns = nullptr;  // of all ranks

  Pace() {
    if (!of_rank) return;
    prctl(PR_SET_TIMERSLACK, 1);
    const int file = open((variable("PACE_FOLDER") + "/next").c_str(), O_RDWR | O_CLOEXEC);
    void* shared = mmap(nullptr, sizeof *next_ns, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) std::abort();
    close(file);
    next_ns = static_cast<std::atomic<std::uint64_t>*>(shared);
  }
};

const Pace& pace() {
  static const Pace pace;
  return pace;
}

std::atomic<bool> has_sent_data{false};

bool is_data(std::size_t bytes) { return pace().of_rank && bytes >= pace().bytes; }

// Before `bytes` leave: waits until it is their turn, and then as long as they take.
void wait_for_turn(std::size_t bytes) {
  const auto takes = static_cast<std::uint64_t>(static_cast<double>(bytes) * pace().ns_per_byte);
  auto before = pace().next_ns->load();
  std::uint64_t until = 0;
  do {
    until = std::max(before, now_ns()) + takes;
  } while (!pace().next_ns->compare_exchange_weak(before, until));
  for (auto now = now_ns(); now < until; now = now_ns()) {
    usleep(static_cast<useconds_t>((until - now) / 1000 + 1));
  }
}

void be_held() {
  const auto began = now_ns();
  while (now_ns() < std::max(began, pace().next_ns->load()) + quiet_ns) usleep(500);
}

template <typename Call>
auto sent(std::size_t bytes, Call call) {
  const bool data = is_data(bytes);
  if (data) wait_for_turn(bytes);
  const auto result = call();
  if (data) has_sent_data = true;
  if (!data && pace().held) be_held();
  return result;
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  return sent(count, [&] { return real(endpoint, buffer, count, tag, parameters); });
}

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                     const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_stream_send_nbx)>("ucp_stream_send_nbx");
  return sent(count, [&] { return real(endpoint, buffer, count, parameters); });
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h endpoint, unsigned id, const void* header,
                                 size_t header_length, const void* buffer, size_t count,
                                 const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_am_send_nbx)>("ucp_am_send_nbx");
  return sent(count,
              [&] { return real(endpoint, id, header, header_length, buffer, count, parameters); });
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h endpoint, const void* buffer, size_t count, uint64_t address,
                             ucp_rkey_h key, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_put_nbx)>("ucp_put_nbx");
  return sent(count, [&] { return real(endpoint, buffer, count, address, key, parameters); });
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h endpoint, void* buffer, size_t count, uint64_t address,
                             ucp_rkey_h key, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_get_nbx)>("ucp_get_nbx");
  return sent(count, [&] { return real(endpoint, buffer, count, address, key, parameters); });
}

// One that is answered counts as PACE_BYTES; others are signals.
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h endpoint, ucp_atomic_op_t operation, const void* buffer,
                                   size_t count, uint64_t address, ucp_rkey_h key,
                                   const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_atomic_op_nbx)>("ucp_atomic_op_nbx");
  const bool answered = (parameters->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) != 0;
  return sent(answered ? pace().bytes : 0,
              [&] { return real(endpoint, operation, buffer, count, address, key, parameters); });
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int done = read_clock(clock, now);
  if (clock == CLOCK_MONOTONIC && pace().after_clock_us > 0 && pace().held &&
      has_sent_data.exchange(false)) {
    usleep(pace().after_clock_us);
  }
  return done;
}

ssize_t send(int socket, const void* bytes, size_t count, int flags) {
  static const auto real = next<ssize_t(int, const void*, size_t, int)>("send");
  return sent(count, [&] { return real(socket, bytes, count, flags); });
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  static const auto real = next<ssize_t(int, const msghdr*, int)>("sendmsg");
  std::size_t count = 0;
  for (std::size_t at = 0; at < message->msg_iovlen; ++at) count += message->msg_iov[at].iov_len;
  return sent(count, [&] { return real(socket, message, flags); });
}

// What ranks of a duet say to each other.
long syscall(long number, ...) noexcept {
  static const auto real = next<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long words[6];
  for (auto& word : words) word = va_arg(list, long);
  va_end(list);
  const auto call = [&] {
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  };
  return number == SYS_futex && words[1] == FUTEX_WAKE ? sent(0, call) : call();
}

// Of Open MPI, whose handles are pointers; of bytes.
int MPI_Isend(const void* buffer, int count, void* type, int to, int tag, void* communicator,
              void* request) {
  using Function = int(const void*, int, void*, int, int, void*, void*);
  static const auto real = next<Function>("MPI_Isend");
  return sent(static_cast<std::size_t>(count),
              [&] { return real(buffer, count, type, to, tag, communicator, request); });
}

}  // extern "C"
