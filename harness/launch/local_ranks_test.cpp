#include "harness/launch/local_ranks.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "harness/launch/test_processes.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Who traces a process may hold it at its exit, before it gives back anything: as one that the
// kernel takes apart for seconds, it is still there.
TEST(LocalRanks, LeavesDyingRanksToAProcessThatWaitsForThem) {
  const SharedMemoryFolder folder;
  std::vector<pid_t> pids;
  {
    TestProcess supervisor({"supervise", "2", "", "litter-hang", "1"});
    for (int rank = 0; rank < 2; ++rank) pids.push_back(std::stoi(supervisor.line().substr(4)));
    const auto deadline = Clock::now() + 30s;
    while ((folder.files().empty() || segments_of(pids).empty()) && Clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    if (::ptrace(PTRACE_SEIZE, pids[1], nullptr, PTRACE_O_TRACEEXIT) != 0) {
      GTEST_SKIP() << "no process may be traced here";
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what outlives the supervisor becomes this one's child
    supervisor.signal(SIGTERM);
    EXPECT_EQ(supervisor.line(), "1 130 terminated by SIGTERM");
    EXPECT_EQ(supervisor.line(), "");
  }
  ::waitpid(pids[1], nullptr, __WALL);
  std::this_thread::sleep_for(1s);  // in which it must not be taken for over
  EXPECT_FALSE(is_dead(pids[1])) << "the rank was to outlive its supervisor";
  EXPECT_EQ(folder.files().size(), 1U);
  EXPECT_EQ(segments_of(pids).size(), 1U);
  ::ptrace(PTRACE_CONT, pids[1], nullptr, nullptr);
  ::waitpid(pids[1], nullptr, __WALL);
  EXPECT_TRUE(children_end());
  EXPECT_EQ(folder.files(), std::vector<std::string>{});
  EXPECT_EQ(remove_segments_of(pids), 0U);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace ucxbench
