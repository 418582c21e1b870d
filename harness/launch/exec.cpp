#include "harness/launch/exec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/core/failure.hpp"
#include "harness/launch/signals.hpp"

namespace ucxbench {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (auto& string : strings) all.push_back(string.data());
  all.push_back(nullptr);
  return all;
}

Fd empty_input() {
  Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) {
    throw Failure(Exit::cannot_run, fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  }
  return null;
}

void begin_child(pid_t parent, int at_its_end) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, at_its_end);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above took effect
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  reset_crash_handlers();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace ucxbench
