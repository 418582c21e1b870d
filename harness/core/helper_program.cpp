#include "harness/core/helper_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "harness/core/exec.hpp"

namespace ucxbench {
namespace {

/// No signal comes between the start of a program and the note that it is there.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

/// All that the child needs, prepared before fork.
struct Started {
  std::vector<char*> argv, environment;
  int output, errors, failure;
  int at_our_end;
  pid_t parent;
};

// Only system calls, as between every fork and exec.
[[noreturn]] void become_program(const Started& started) {
  begin_child(started.parent, started.at_our_end);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
      ::dup2(started.output, STDOUT_FILENO) >= 0 && ::dup2(started.errors, STDERR_FILENO) >= 0) {
    if (nothing > STDERR_FILENO) ::close(nothing);
    ::execvpe(started.argv[0], started.argv.data(), started.environment.data());
  }
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(started.failure, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

HelperProgram::HelperProgram(std::vector<std::string> argv, Setup setup) {
  std::array<int, 2> told{};
  if (::pipe2(told.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  Started started{pointers_to(argv),
                  {},
                  setup.output.value_or(STDOUT_FILENO),
                  setup.errors.value_or(STDERR_FILENO),
                  told[1],
                  setup.at_our_end,
                  ::getpid()};
  if (setup.environment) {
    started.environment = pointers_to(*setup.environment);
  } else {
    for (auto* entry = environ; *entry != nullptr; ++entry) started.environment.push_back(*entry);
    started.environment.push_back(nullptr);
  }
  int error = 0;
  {
    const NoSignals between;
    pid_ = ::fork();
    if (pid_ == 0) become_program(started);
    if (pid_ < 0) {
      error = errno;
    } else {
      ::setpgid(pid_, pid_);  // here too: whoever comes first, the group is there to be killed
      on_signal_.emplace(pid_, setup.at_our_end);
    }
  }
  ::close(told[1]);
  while (pid_ > 0 && ::read(told[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::close(told[0]);
  if (error == 0) return;
  if (pid_ > 0) wait();
  throw std::system_error(error, std::generic_category());
}

HelperProgram::~HelperProgram() {
  kill();
  try {
    wait();
  } catch (const std::system_error&) {
    return;  // somebody else has reaped it
  }
}

void HelperProgram::kill() {
  if (!status_) ::kill(-pid_, SIGKILL);
}

bool HelperProgram::over(int options) {
  if (status_) return true;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  while (::waitid(P_PID, id, &info, WEXITED | WNOWAIT | options) != 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category());
  }
  if (info.si_pid == 0) return false;
  // While it is unreaped its number cannot name anybody else's group.
  ::kill(-pid_, SIGKILL);
  on_signal_.reset();
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = status;
  return true;
}

std::optional<int> HelperProgram::status() {
  over(WNOHANG);
  return status_;
}

int HelperProgram::wait() {
  over(0);
  return *status_;
}

}  // namespace ucxbench
