#include "harness/launch/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/launch/exec.hpp"

namespace ucxbench {
namespace {

using ProgramClock = std::chrono::steady_clock;

// Its end wakes us; this is for limits only.
constexpr std::chrono::milliseconds look_again{250};
// For a program to end after Ctrl-C, then after SIGTERM, all within a second: one of this version
// needs less.
constexpr std::chrono::milliseconds grace{700};
constexpr std::chrono::milliseconds last_grace{300};
// After the user's second Ctrl-C.
constexpr std::chrono::seconds abort_grace{1};

/// All that the child needs, prepared before fork.
struct Started {
  std::vector<char*> argv;
  std::vector<char*> environment;
  int in, out, err, failure;
  pid_t parent;
};

// Only system calls, as between every fork and exec.
[[noreturn]] void become_program(const Started& started) {
  begin_child(started.parent, SIGTERM);
  ::dup2(started.in, STDIN_FILENO);
  ::dup2(started.out, STDOUT_FILENO);
  ::dup2(started.err, STDERR_FILENO);
  ::execvpe(started.argv[0], started.argv.data(), started.environment.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(started.failure, &error, sizeof error);
  ::_exit(127);
}

// In memory, so that nobody has to read while it writes.
Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no memory for what a program says: {}", std::strerror(errno)));
  }
  return file;
}

std::string all_of(const Fd& file) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::pread(file.get(), part.data(), part.size(),
                                           static_cast<off_t>(text.size()))) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

/// A child until it is reaped; killed if nobody waited for it.
class Child {
 public:
  Child(pid_t pid, std::optional<std::chrono::seconds> limit) : pid_(pid) {
    if (limit) deadline_ = ProgramClock::now() + *limit;
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait(Signals& signals) {
    for (;;) {
      int status = 0;
      const auto ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        pid_ = 0;
        return status;
      }
      signals.collect();
      pass_on(signals);
      if (ProgramClock::now() > deadline_) end_it(last_grace);
      pollfd ready{signals.fd(), POLLIN, 0};
      ::poll(&ready, 1, static_cast<int>(look_again.count()));
    }
  }

 private:
  // Signals of one kind that are pending at once are one: a second Ctrl-C goes on as SIGTERM.
  void pass_on(const Signals& signals) {
    if (signals.stop() && !std::exchange(stopped_, true)) {
      ::kill(pid_, SIGINT);
      deadline_ = ProgramClock::now() + grace;
    }
    if (signals.abort() && !aborted_) end_it(abort_grace);
  }
  void end_it(std::chrono::milliseconds limit) {
    const bool again = std::exchange(aborted_, true);
    ::kill(again || !stopped_ ? -pid_ : pid_, again || !stopped_ ? SIGKILL : SIGTERM);
    deadline_ = ProgramClock::now() + limit;
  }

  pid_t pid_;
  bool stopped_ = false;
  bool aborted_ = false;
  ProgramClock::time_point deadline_ = ProgramClock::time_point::max();
};

}  // namespace

ProgramEnd run_program(const Program& program, Signals& signals) {
  const auto out = memory_file("stdout");
  const auto err = memory_file("stderr");
  const Fd in = empty_input();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Failure(Exit::cannot_run, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  const Fd failure(ends[0]);
  Fd told(ends[1]);
  auto argv = program.argv;
  std::vector<std::string> entries;
  for (const auto& [name, value] : program.environment) entries.push_back(name + "=" + value);
  const Started started{pointers_to(argv), pointers_to(entries), in.get(),  out.get(),
                        err.get(),         told.get(),           ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) become_program(started);
  if (pid < 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("cannot start '{}': {}", argv[0], std::strerror(errno)));
  }
  Child child(pid, program.limit);
  told.reset();
  int error = 0;
  if (::read(failure.get(), &error, sizeof error) == sizeof error) {
    throw Failure(Exit::usage, fmt::format("cannot run '{}': {}; give a program that can be run",
                                           argv[0], std::strerror(error)));
  }
  const Signals::Waiting waiting(signals);
  const int status = child.wait(signals);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = all_of(out),
          .said = all_of(err)};
}

}  // namespace ucxbench
