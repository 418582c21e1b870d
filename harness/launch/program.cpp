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
#include <memory>
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

  /// Its wait status once it has ended.
  std::optional<int> look(const Signals& signals) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      return status;
    }
    pass_on(signals);
    if (ProgramClock::now() > deadline_) end_it(last_grace);
    return std::nullopt;
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

/// A program that has begun, and what it says.
class Running {
 public:
  explicit Running(const Program& program)
      : out_(memory_file("stdout")), err_(memory_file("stderr")) {
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
    const Started started{pointers_to(argv), pointers_to(entries), in.get(),  out_.get(),
                          err_.get(),        told.get(),           ::getpid()};
    const pid_t pid = ::fork();
    if (pid == 0) become_program(started);
    if (pid < 0) {
      throw Failure(Exit::cannot_run,
                    fmt::format("cannot start '{}': {}", argv[0], std::strerror(errno)));
    }
    child_.emplace(pid, program.limit);
    told.reset();
    int error = 0;
    if (::read(failure.get(), &error, sizeof error) == sizeof error) {
      throw Failure(Exit::usage, fmt::format("cannot run '{}': {}; give a program that can be run",
                                             argv[0], std::strerror(error)));
    }
  }

  std::optional<ProgramEnd> look(const Signals& signals) {
    const auto status = child_->look(signals);
    if (!status) return std::nullopt;
    return ProgramEnd{.status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 0,
                      .signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0,
                      .out = all_of(out_),
                      .said = all_of(err_)};
  }

 private:
  Fd out_, err_;
  std::optional<Child> child_;
};

}  // namespace

std::vector<ProgramEnd> run_programs(const std::vector<Program>& programs, Signals& signals,
                                     const std::function<void(std::size_t)>& ended) {
  std::vector<std::unique_ptr<Running>> running;
  for (const auto& program : programs) running.push_back(std::make_unique<Running>(program));
  const Signals::Waiting waiting(signals);
  std::vector<ProgramEnd> ends(programs.size());
  for (std::size_t left = programs.size();;) {
    signals.collect();
    for (std::size_t at = 0; at < running.size(); ++at) {
      if (running[at] == nullptr) continue;
      auto end = running[at]->look(signals);
      if (!end) continue;
      ends[at] = std::move(*end);
      running[at].reset();
      --left;
      if (ended) ended(at);
    }
    if (left == 0) return ends;
    pollfd ready{signals.fd(), POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(look_again.count()));
  }
}

ProgramEnd run_program(const Program& program, Signals& signals) {
  return run_programs({program}, signals).front();
}

}  // namespace ucxbench
