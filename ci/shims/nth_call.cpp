// Preloaded by the tests: the n-th call of one function fails, and no other. Each process counts
// its own calls from its first one on; a child of fork goes on from its parent's number.
//   NTH_CALL    the function, or what stands for several: one of `kinds`
//   NTH         which call fails; 0: none does
//   NTH_ERROR   the number of the error that it sets
//   NTH_OF      the process that counts: launcher, probe, rank0, rank1, …, or all: each of them
//   NTH_FOLDER  where a process leaves "failed.NAME.PID" when its call has failed, and when it ends
//               by itself "calls.NAME.PID", with a line for each of `kinds`: how often it was
//               called

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "shim.hpp"

extern "C" {
// glibc's own, behind those that stand in front of them here.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

// The first one who asks may be malloc, before any constructor has run: nothing here allocates, and
// nothing calls what stands in front of something else.

const char* text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int open_file(const char* path, int flags) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600));
}

enum Kind {
  allocate,
  map,
  open_,
  make_folder,
  read_,
  write_,
  truncate_,
  sync_,
  rename_,
  fork_,
  thread_,
  pipe_,
  socket_,
  send_,
  receive,
  count_of_kinds
};
constexpr const char* kinds[] = {"malloc", "mmap",     "open",   "mkdir",  "read",
                                 "write",  "truncate", "fsync",  "rename", "fork",
                                 "thread", "pipe",     "socket", "send",   "recv"};
static_assert(std::size(kinds) == count_of_kinds);

class Count {
 public:
  bool fails(Kind kind) {
    if (state_ == State::unasked) look();
    if (state_ != State::counts || ++calls_[kind] != nth_ || std::strcmp(kinds[kind], kind_) != 0) {
      return false;
    }
    write_to("failed", [](int) {});
    errno = error_;
    return true;
  }

  void end() {
    if (state_ != State::counts) return;
    write_to("calls", [this](int file) {
      for (int kind = 0; kind < count_of_kinds; ++kind) {
        char line[64];
        const int bytes =
            std::snprintf(line, sizeof line, "%s %ld\n", kinds[kind], calls_[kind].load());
        if (::syscall(SYS_write, file, line, bytes) != bytes) std::abort();
      }
    });
  }

 private:
  enum class State { unasked, looking, counts, idle };

  void look() {
    state_ = State::looking;
    kind_ = text_of("NTH_CALL");
    nth_ = std::atol(text_of("NTH"));
    error_ = std::atoi(text_of("NTH_ERROR"));
    find_part();
    const std::string_view of = text_of("NTH_OF");
    const bool counts = of == "all" ? *part_ != '\0' : of == part_;
    state_ = counts && !of.empty() ? State::counts : State::idle;
  }

  // Empty for another program.
  void find_part() {
    const char* rank = std::getenv("UCXBENCH_INTERNAL_RANK");
    if (rank != nullptr) {
      std::snprintf(part_, sizeof part_, "rank%s", rank);
      return;
    }
    char words[512] = "";
    const int file = open_file("/proc/self/cmdline", O_RDONLY);
    if (::syscall(SYS_read, file, words, sizeof words - 2) <= 0) std::abort();
    ::syscall(SYS_close, file);
    const std::string_view program = words;
    const std::string_view first = words + program.size() + 1;
    const bool ours = program.ends_with("/ucx-bench") || program == "/proc/self/exe";
    if (ours) std::strcpy(part_, first == "__probe" ? "probe" : "launcher");
  }

  template <typename Write>
  void write_to(const char* name, Write write) {
    char path[512];
    std::snprintf(path, sizeof path, "%s/%s.%s.%d", text_of("NTH_FOLDER"), name, part_, getpid());
    const int file = open_file(path, O_WRONLY | O_CREAT);
    write(file);
    ::syscall(SYS_close, file);
  }

  std::atomic<State> state_{State::unasked};
  std::atomic<long> calls_[count_of_kinds]{};
  const char* kind_ = "";
  long nth_ = 0;
  int error_ = 0;
  char part_[16] = "";
};

constinit Count count;

[[gnu::destructor]] void tell_calls() { count.end(); }

/// What `real` returns, or `failed`.
template <typename Function, typename Result, typename... Arguments>
Result call(Kind kind, const char* name, Result failed, Arguments... arguments) {
  return count.fails(kind) ? failed : next<Function>(name)(arguments...);
}

#define MODE_AFTER(flags)                      \
  va_list arguments;                           \
  va_start(arguments, flags);                  \
  const auto mode = va_arg(arguments, mode_t); \
  va_end(arguments)

}  // namespace

extern "C" {

void* malloc(size_t bytes) noexcept {
  return count.fails(allocate) ? nullptr : __libc_malloc(bytes);
}
void* calloc(size_t number, size_t bytes) noexcept {
  return count.fails(allocate) ? nullptr : __libc_calloc(number, bytes);
}
void* realloc(void* memory, size_t bytes) noexcept {
  return count.fails(allocate) ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return count.fails(allocate) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  *memory = count.fails(allocate) ? nullptr : __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  return call<decltype(::mmap)>(map, "mmap", MAP_FAILED, at, bytes, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  return call<decltype(::mmap)>(map, "mmap64", MAP_FAILED, at, bytes, protection, flags, fd,
                                offset);
}

int open(const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return call<decltype(::open)>(open_, "open", -1, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return call<decltype(::open)>(open_, "open64", -1, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE_AFTER(flags);
  return call<decltype(::openat)>(open_, "openat", -1, folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return call<decltype(::fopen), FILE*>(open_, "fopen", nullptr, path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return call<decltype(::fopen), FILE*>(open_, "fopen64", nullptr, path, mode);
}
DIR* opendir(const char* path) {
  return call<decltype(::opendir), DIR*>(open_, "opendir", nullptr, path);
}
int shm_open(const char* name, int flags, mode_t mode) {
  return call<decltype(::shm_open)>(open_, "shm_open", -1, name, flags, mode);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return call<decltype(::mkdir)>(make_folder, "mkdir", -1, path, mode);
}

ssize_t read(int fd, void* data, size_t bytes) {
  return call<decltype(::read), ssize_t>(read_, "read", -1, fd, data, bytes);
}
ssize_t write(int fd, const void* data, size_t bytes) {
  return call<decltype(::write), ssize_t>(write_, "write", -1, fd, data, bytes);
}
ssize_t writev(int fd, const iovec* parts, int number) {
  return call<decltype(::writev), ssize_t>(write_, "writev", -1, fd, parts, number);
}
int ftruncate(int fd, off_t length) noexcept {
  return call<decltype(::ftruncate)>(truncate_, "ftruncate", -1, fd, length);
}
int ftruncate64(int fd, off_t length) noexcept {
  return call<decltype(::ftruncate)>(truncate_, "ftruncate64", -1, fd, length);
}
int fsync(int fd) { return call<decltype(::fsync)>(sync_, "fsync", -1, fd); }
int fdatasync(int fd) { return call<decltype(::fdatasync)>(sync_, "fdatasync", -1, fd); }
int rename(const char* from, const char* to) noexcept {
  return call<decltype(::rename)>(rename_, "rename", -1, from, to);
}

pid_t fork() noexcept { return call<decltype(::fork), pid_t>(fork_, "fork", -1); }
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*main)(void*),
                   void* argument) noexcept {
  return call<decltype(::pthread_create)>(thread_, "pthread_create", EAGAIN, thread, how, main,
                                          argument);
}
int pipe2(int* ends, int flags) noexcept {
  return call<decltype(::pipe2)>(pipe_, "pipe2", -1, ends, flags);
}

int socket(int domain, int type, int protocol) noexcept {
  return call<decltype(::socket)>(socket_, "socket", -1, domain, type, protocol);
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  return call<decltype(::socketpair)>(socket_, "socketpair", -1, domain, type, protocol, ends);
}
ssize_t send(int fd, const void* data, size_t bytes, int flags) {
  return call<decltype(::send), ssize_t>(send_, "send", -1, fd, data, bytes, flags);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return call<decltype(::sendmsg), ssize_t>(send_, "sendmsg", -1, fd, message, flags);
}
ssize_t recv(int fd, void* data, size_t bytes, int flags) {
  return call<decltype(::recv), ssize_t>(receive, "recv", -1, fd, data, bytes, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return call<decltype(::recvmsg), ssize_t>(receive, "recvmsg", -1, fd, message, flags);
}

}  // extern "C"
