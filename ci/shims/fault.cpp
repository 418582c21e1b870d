// Preloaded into the ranks by the tests: does one thing at a chosen point of a run, in the thread
// that reached it, so that no test depends on how fast the machine is.
//   FAULT_RANK    the rank that acts
//   FAULT_PHASE   when the phase that it announces contains this text
//   FAULT_AFTER   and at its own so many-th further tag message posted, sends and receives (0: at
//                 once). How many a phase has is fixed, unlike its calls of ucp_worker_progress.
//   FAULT_CALL    instead, as soon as shm_open or shmget, whichever is named here, has made
//                 something; the rank does nothing more itself then, so that no other moment is hit
//   FAULT_ACTION  kill, segv, stop, oom (this rank; no memory can be had from then on);
//                 kill-parent, stop-parent (its supervisor); hang (progress does nothing from then
//                 on, and takes no CPU for it); corrupt (one byte of the next tag message is
//                 flipped, or of the next header of an active message; two parts of a list change
//                 places); fork (another program is run); hold (at its next call of UCX the rank
//                 waits for the file "go-on"); step:SECONDS is for another library (step.cpp)
//   FAULT_LATE_US and so much later: it stays there until then
//   FAULT_FOLDER  where the file "acted" then gets the time of CLOCK_MONOTONIC in seconds and the
//                 rank's process, and every rank leaves a file named after its process

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "shim.hpp"

namespace {

void leave_file(const std::string& name, const std::string& text) {
  const auto path = variable("FAULT_FOLDER") + "/" + name;
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) std::abort();
  if (write(fd, text.data(), text.size()) < 0) std::abort();
  close(fd);
}

void wait_for_file(const std::string& name) {
  const auto path = variable("FAULT_FOLDER") + "/" + name;
  constexpr timespec step{0, 1'000'000};
  for (int i = 0; i < 60'000 && access(path.c_str(), F_OK) != 0; ++i) nanosleep(&step, nullptr);
}

bool none_left = false;

void* if_any_is_left(void* memory) {
  if (!none_left) return memory;
  std::free(memory);
  errno = ENOMEM;
  return nullptr;
}

// By the limit mappings fail, too. Where a sanitizer has the allocator, it alone counts.
void use_up_memory() {
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  const rlimit no_more{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &no_more);
  for (std::size_t bytes = std::size_t{1} << 20; bytes >= 16; bytes /= 2) {
    while (std::malloc(bytes) != nullptr) continue;
  }
  none_left = true;
}

class Fault {
 public:
  Fault()
      : phase_(variable("FAULT_PHASE")),
        action_(variable("FAULT_ACTION")),
        call_(variable("FAULT_CALL")),
        messages_left_(std::atol(variable("FAULT_AFTER").c_str())) {
    const auto rank = variable("UCXBENCH_INTERNAL_RANK");
    if (rank.empty() || phase_.empty()) return;
    leave_file(std::to_string(getpid()), "");
    armed_ = rank == variable("FAULT_RANK");
  }

  void sent(std::string_view bytes) {
    if (!armed_ || reached_ || bytes.find(phase_) == std::string_view::npos) return;
    reached_ = true;
    // Not while the control connection is locked: a rank that is held keeps its signs of life.
    if (messages_left_ == 0 && call_.empty() && action_ != "hold") act();
  }

  void made(std::string_view call) {
    if (!armed_ || !reached_ || call != call_) return;
    act();
    for (int i = 0; i < 60; ++i) sleep(1);
  }

  void posts() {
    if (due() && --messages_left_ <= 0) act();
  }

  /// False: this call shall do nothing.
  bool progress() {
    if (due() && messages_left_ == 0) act();
    constexpr timespec step{0, 1'000'000};
    if (hanging_) nanosleep(&step, nullptr);
    return !hanging_;
  }

  bool corrupts() { return std::exchange(corrupting_, false); }

 private:
  bool due() const { return armed_ && reached_ && call_.empty(); }

  void act() {
    armed_ = false;
    const long late_us = std::atol(variable("FAULT_LATE_US").c_str());
    const timespec late{late_us / 1'000'000, late_us % 1'000'000 * 1000};
    nanosleep(&late, nullptr);
    // Said once it is so, where there is still somebody to say it.
    if (action_ == "stop-parent") kill(getppid(), SIGSTOP);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    char text[64];
    std::snprintf(text, sizeof text, "%ld.%09ld %d\n", static_cast<long>(now.tv_sec), now.tv_nsec,
                  getpid());
    leave_file("acted", text);
    if (action_ == "kill") kill(getpid(), SIGKILL);
    if (action_ == "segv") kill(getpid(), SIGSEGV);
    if (action_ == "oom") use_up_memory();
    if (action_ == "stop") kill(getpid(), SIGSTOP);
    if (action_ == "kill-parent") kill(getppid(), SIGKILL);
    if (action_ == "hold") wait_for_file("go-on");
    if (action_ == "fork" && std::system("true") != 0) std::abort();
    hanging_ = action_ == "hang";
    corrupting_ = action_ == "corrupt";
  }

  std::string phase_;
  std::string action_;
  std::string call_;
  long messages_left_;
  bool armed_ = false;
  bool reached_ = false;
  bool hanging_ = false;
  bool corrupting_ = false;
};

Fault& fault() {
  static Fault instance;
  return instance;
}

// Never freed: a send may still read it for as long as it likes.
void* copied(const void* bytes, size_t length) {
  return std::memcpy(std::malloc(length), bytes, length);
}

void* flipped(const void* bytes, size_t length) {
  auto* copy = static_cast<char*>(copied(bytes, length));
  copy[5] = static_cast<char>(copy[5] ^ 1);
  return copy;
}

// Every rank says where it is, also one that never gets far enough to send anything.
[[maybe_unused]] const Fault& started = fault();

}  // namespace

extern "C" {

// glibc's own, which these stand in front of: what is freed later would serve who asks next.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);

void* malloc(size_t bytes) noexcept { return if_any_is_left(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) noexcept {
  return if_any_is_left(__libc_calloc(count, bytes));
}

ssize_t send(int fd, const void* bytes, size_t length, int flags) {
  static const auto real = next<ssize_t(int, const void*, size_t, int)>("send");
  const auto sent = real(fd, bytes, length, flags);
  fault().sent({static_cast<const char*>(bytes), length});
  return sent;
}

int shm_open(const char* name, int flags, mode_t mode) {
  static const auto real = next<int(const char*, int, mode_t)>("shm_open");
  const int fd = real(name, flags, mode);
  if (fd >= 0 && (flags & O_CREAT) != 0) fault().made("shm_open");
  return fd;
}

int shmget(key_t key, size_t size, int flags) noexcept {
  static const auto real = next<int(key_t, size_t, int)>("shmget");
  const int id = real(key, size, flags);
  if (id >= 0) fault().made("shmget");
  return id;
}

unsigned ucp_worker_progress(ucp_worker_h worker) {
  static const auto real = next<unsigned(ucp_worker_h)>("ucp_worker_progress");
  return fault().progress() ? real(worker) : 0;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real =
      next<ucs_status_ptr_t(ucp_ep_h, const void*, size_t, ucp_tag_t, const ucp_request_param_t*)>(
          "ucp_tag_send_nbx");
  fault().posts();
  if (parameters->datatype == ucp_dt_make_iov()) {
    if (!fault().corrupts()) return real(endpoint, buffer, count, tag, parameters);
    auto* parts = static_cast<ucp_dt_iov_t*>(copied(buffer, count * sizeof(ucp_dt_iov_t)));
    std::swap(parts[0].buffer, parts[1].buffer);
    return real(endpoint, parts, count, tag, parameters);
  }
  if (count < 8 || !fault().corrupts()) return real(endpoint, buffer, count, tag, parameters);
  return real(endpoint, flipped(buffer, count), count, tag, parameters);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h endpoint, unsigned id, const void* header,
                                 size_t header_length, const void* buffer, size_t count,
                                 const ucp_request_param_t* parameters) {
  static const auto real =
      next<ucs_status_ptr_t(ucp_ep_h, unsigned, const void*, size_t, const void*, size_t,
                            const ucp_request_param_t*)>("ucp_am_send_nbx");
  if (header_length >= 8 && fault().corrupts()) header = flipped(header, header_length);
  return real(endpoint, id, header, header_length, buffer, count, parameters);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t* parameters) {
  static const auto real = next<ucs_status_ptr_t(ucp_worker_h, void*, size_t, ucp_tag_t, ucp_tag_t,
                                                 const ucp_request_param_t*)>("ucp_tag_recv_nbx");
  fault().posts();
  return real(worker, buffer, count, tag, mask, parameters);
}

}  // extern "C"
