#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "bench/cli/app.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/exec.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/channel_rendezvous.hpp"
#include "harness/launch/mpirun.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"

namespace {

unsigned long before_main;  // the signals that were blocked
int at_parents_end;         // the signal of PR_SET_PDEATHSIG

/// As the kernel has it: that of the C library is of another layout.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
} of_hangups;  // UCX's constructors take SIGHUP for themselves (UCX_DEBUG_SIGNO)

// The loader calls it before UCX's constructors. These make a System V segment and remove it again
// (UCX's ucm_mmap_install): what ends the program waits until then, also the end of its parent. By
// system calls: sanitizers have not begun.
__attribute__((no_sanitize("address", "thread", "undefined"))) void hold_signals_until_main(
    int, char**, char**) {
  constexpr unsigned long all = ~0UL;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before_main, sizeof all);
  ::syscall(SYS_rt_sigaction, SIGHUP, 0, &of_hangups, sizeof of_hangups.mask);
  ::syscall(SYS_prctl, PR_GET_PDEATHSIG, &at_parents_end, 0, 0, 0);
  if (at_parents_end == SIGKILL) ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = hold_signals_until_main;

/// Before main, where what registers itself may need memory, and where a destructor does.
[[gnu::constructor(101)]] void say_that_memory_ran_out() {
  static const auto otherwise = std::get_terminate();
  std::set_terminate([] {
    try {
      if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
      ucxbench::say_at_once("ucx-bench: out of memory");
      ::_exit(static_cast<int>(ucxbench::Exit::lost));
    } catch (...) {
      otherwise();
    }
    otherwise();
  });
}

void take_held_signals() {
  ::prctl(PR_SET_PDEATHSIG, at_parents_end);
  ::signal(SIGHUP, of_hangups.handler == SIG_IGN ? SIG_IGN : SIG_DFL);
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_main, nullptr, sizeof before_main);
}

}  // namespace

// UCX up to 1.13 copies the host's name into 64 bytes and its constructors abort where that is as
// long as Linux allows, 64 characters. Libraries take the function that the executable has: the
// last character is left out.
extern "C" int gethostname(char* name, std::size_t bytes) noexcept {
  constexpr std::size_t most = 63;
  utsname host{};
  if (::uname(&host) != 0) return -1;
  const std::string_view whole = host.nodename;
  if (bytes <= std::min(whole.size(), most)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  *std::copy_n(whole.begin(), std::min(whole.size(), most), name) = '\0';
  return 0;
}

// One program, four lives: a rank that a supervisor started, a probe that asks UCX what it can do,
// what mpirun starts in place of a rank, and the supervisor itself, which never calls UCX.
int main(int argc, char** argv) {
  using namespace ucxbench;
  take_held_signals();
  open_standard_descriptors();
  if (ChannelRendezvous::is_rank()) return rank_main();
  if (argc >= 2 && std::strcmp(argv[1], probe_command) == 0) {
    return probe_main({argv + 2, argv + argc});
  }
  if (argc == 3 && std::strcmp(argv[1], mpi_place_command) == 0) return mpi_place_main(argv[2]);
  reset_crash_handlers();
  end_at_once_on_signals();
  return static_cast<int>(run_command_line(argc, argv));
}
