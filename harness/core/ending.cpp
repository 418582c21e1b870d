#include "harness/core/ending.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "harness/core/failure.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {
namespace {

// One program at work and one file being written, and room.
constexpr std::size_t slots = 8;
// Of whatever may hold up the end, as a disk or who reads what is printed: far more than the work
// that is left takes on a busy machine.
constexpr unsigned longest_end_s = 10;
// For programs that were told to end, all together, and for one to be gone that was killed.
constexpr int end_limit_ms = 1000;
constexpr int reap_limit_ms = 200;

// For handlers, which run in the main thread: the kernel prefers it as long as it blocks no signal.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<pid_t> group{0};
  std::atomic<int> signal{SIGKILL};
  std::atomic<const char*> file{nullptr};
};
std::array<Slot, slots> going;
std::atomic<bool> at_once{false};
std::atomic<const char*> why_failed{nullptr};
static_assert(std::atomic<pid_t>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

// `slots` where all are taken: it outlives us then, as it would a SIGKILL.
std::size_t take_slot() {
  for (std::size_t at = 0; at < slots; ++at) {
    if (!going[at].taken.exchange(true)) return at;
  }
  return slots;
}

void say_why(const char* otherwise) {
  const char* line = why_failed;
  if (line == nullptr) line = otherwise;
  if (*line != '\0') say_at_once(line);
}

void take_end(int signal) {
  say_why(signal == SIGTERM  ? "ucx-bench: terminated by SIGTERM\n"
          : signal == SIGHUP ? "ucx-bench: ended by SIGHUP: the terminal was closed\n"
                             : "ucx-bench: stopped by Ctrl-C\n");
  end_at_once();
}

void take_limit(int) {
  say_why("ucx-bench: ended before its report; what was measured is in the run file\n");
  end_at_once();
}

// With system calls only; the folder has no others in it.
void remove_now(const char* path) {
  if (::unlink(path) == 0 || errno != EISDIR) return;
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries;
  for (ssize_t bytes; (bytes = ::getdents64(folder, entries.data(), entries.size())) > 0;) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
  ::rmdir(path);
}

void on(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

bool lives(pid_t leader) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(leader), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

bool any_lives() {
  return std::ranges::any_of(going, [](const Slot& slot) {
    const auto group = slot.group.load();
    return group != 0 && lives(group);
  });
}

void reap(pid_t leader) {
  for (int i = 0; i < reap_limit_ms && ::waitpid(leader, nullptr, WNOHANG) == 0; ++i) {
    ::usleep(1000);
  }
}

}  // namespace

bool ignores_hangups() noexcept {
  struct sigaction now{};
  return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void open_standard_descriptors() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free: those before it are open.
    if (::fcntl(fd, F_GETFD) < 0) std::ignore = ::open("/dev/null", O_RDWR);
  }
}

void end_at_once_on_signals() {
  on(SIGINT, take_end);
  on(SIGTERM, take_end);
  if (!ignores_hangups()) on(SIGHUP, take_end);
  on(SIGPROF, take_limit);
  // Who cannot be written to, or what is too large for `ulimit -f`, is a failed write, which says
  // so; and who started us with SIGCHLD ignored would have the kernel take our children's ends from
  // us.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  // Programs that work for us are no part of the terminal's foreground, and may write there.
  ::signal(SIGTTOU, SIG_IGN);
  at_once = true;
}

void fails_as(const std::string& reason) {
  static std::string line;
  why_failed = nullptr;
  if (reason.empty()) return;
  line = "ucx-bench: " + reason + "\n";
  why_failed = line.c_str();
}

void has_said_why() { why_failed = ""; }

void end_within(std::chrono::milliseconds processor_time) noexcept {
  if (!at_once) return;
  itimerval limit{};
  limit.it_value.tv_sec = processor_time.count() / 1000;
  limit.it_value.tv_usec = processor_time.count() % 1000 * 1000;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

void end_at_latest() noexcept {
  if (!at_once) return;
  ::signal(SIGALRM, take_limit);
  ::alarm(longest_end_s);
}

void end_at_once() noexcept {
  for (const auto& slot : going) {
    if (const auto group = slot.group.load()) ::kill(-group, slot.signal);
  }
  for (int i = 0; i < end_limit_ms && any_lives(); ++i) ::usleep(1000);
  for (const auto& slot : going) {
    const auto group = slot.group.load();
    if (group == 0) continue;
    ::kill(-group, SIGKILL);  // with what it started; unreaped, its number is still its own
    reap(group);
  }
  // After the programs, which may still have written there.
  for (auto& slot : going) {
    if (const auto* file = slot.file.load()) remove_now(file);
  }
  ::_exit(static_cast<int>(Exit::interrupted));
}

void say_at_once(const char* line) noexcept {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;  // nobody reads it
  if (::isatty(STDERR_FILENO) == 1) {
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, clear_line, std::strlen(clear_line));
  }
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, std::strlen(line));
}

SignalCleanup::SignalCleanup(pid_t group, int signal) : slot_(take_slot()) {
  if (slot_ == slots) return;
  going[slot_].signal = signal;
  going[slot_].group = group;
}

SignalCleanup::SignalCleanup(const std::filesystem::path& file)
    : file_(file.string()), slot_(take_slot()) {
  if (slot_ < slots) going[slot_].file = file_.c_str();
}

SignalCleanup::~SignalCleanup() {
  if (slot_ == slots) return;
  going[slot_].group = 0;
  going[slot_].file = nullptr;
  going[slot_].taken = false;
}

}  // namespace ucxbench
