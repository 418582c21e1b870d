#include "harness/core/exec.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace ucxbench {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (auto& string : strings) all.push_back(string.data());
  all.push_back(nullptr);
  return all;
}

void begin_child(pid_t parent, int at_its_end) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, at_its_end);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above took effect
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ})
    ::signal(signal, SIG_DFL);
  reset_crash_handlers();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void reset_crash_handlers() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL);
}

}  // namespace ucxbench
