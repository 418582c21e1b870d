#include "harness/core/helper_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

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

int spawn(const std::vector<std::string>& argv, std::optional<int> output, pid_t& child) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output) ::posix_spawn_file_actions_adddup2(&files, *output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // Ours may block what should end it.
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&child, words[0], &files, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

HelperProgram::HelperProgram(const std::vector<std::string>& argv, std::optional<int> output) {
  const NoSignals between;
  if (const int error = spawn(argv, output, pid_)) {
    throw std::system_error(error, std::generic_category());
  }
  on_signal_.emplace(pid_);
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
