#include <cstring>

#include "bench/cli/app.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/exec.hpp"
#include "harness/launch/channel_rendezvous.hpp"
#include "harness/launch/mpirun.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/probe.hpp"

// One program, four lives: a rank that a supervisor started, a probe that asks UCX what it can do,
// what mpirun starts in place of a rank, and the supervisor itself, which never calls UCX.
int main(int argc, char** argv) {
  using namespace ucxbench;
  if (ChannelRendezvous::is_rank()) return rank_main();
  if (argc >= 2 && std::strcmp(argv[1], probe_command) == 0) {
    return probe_main({argv + 2, argv + argc});
  }
  if (argc == 3 && std::strcmp(argv[1], mpi_place_command) == 0) return mpi_place_main(argv[2]);
  reset_crash_handlers();
  end_at_once_on_signals();
  return static_cast<int>(run_command_line(argc, argv));
}
