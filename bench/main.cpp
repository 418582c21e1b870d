#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "bench/cli/app.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/exec.hpp"
#include "harness/launch/channel_rendezvous.hpp"
#include "harness/launch/mpirun.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"

namespace {

unsigned long before_main;  // the signals that were blocked

// The loader calls it before UCX's constructors. These make a System V segment and remove it again
// (UCX's ucm_mmap_install): what ends the program waits until then. By system call: sanitizers have
// not begun.
__attribute__((no_sanitize("address", "thread", "undefined"))) void hold_signals_until_main(
    int, char**, char**) {
  constexpr unsigned long ends =
      1UL << (SIGHUP - 1) | 1UL << (SIGINT - 1) | 1UL << (SIGQUIT - 1) | 1UL << (SIGTERM - 1);
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &ends, &before_main, sizeof ends);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = hold_signals_until_main;

}  // namespace

// One program, four lives: a rank that a supervisor started, a probe that asks UCX what it can do,
// what mpirun starts in place of a rank, and the supervisor itself, which never calls UCX.
int main(int argc, char** argv) {
  using namespace ucxbench;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_main, nullptr, sizeof before_main);
  if (ChannelRendezvous::is_rank()) return rank_main();
  if (argc >= 2 && std::strcmp(argv[1], probe_command) == 0) {
    return probe_main({argv + 2, argv + argc});
  }
  if (argc == 3 && std::strcmp(argv[1], mpi_place_command) == 0) return mpi_place_main(argv[2]);
  reset_crash_handlers();
  end_at_once_on_signals();
  return static_cast<int>(run_command_line(argc, argv));
}
