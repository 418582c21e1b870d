// A supervisor that is stopped or killed, as a process of its own.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/launch/test_processes.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class SupervisorProcess : public testing::TestWithParam<std::string> {
 protected:
  std::vector<pid_t> start(TestProcess& supervisor, int size) {
    std::vector<pid_t> pids;
    for (int rank = 0; rank < size; ++rank) pids.push_back(pid_of(supervisor.line().substr(4)));
    return pids;
  }
};

TEST_P(SupervisorProcess, LeavesNothingWhenKilled) {
  for (const auto* action : {"loop", "hang"}) {
    TestProcess supervisor({"supervise", "3", GetParam(), action, "1"});
    const auto pids = start(supervisor, 3);
    supervisor.signal(SIGKILL);
    EXPECT_TRUE(all_dead(pids)) << action;
  }
}

TEST_P(SupervisorProcess, StopsOnASignal) {
  for (const auto& [signal, said] : {std::pair{SIGINT, "1 130 stopped by Ctrl-C"},
                                     std::pair{SIGTERM, "1 130 terminated by SIGTERM"}}) {
    for (const auto* action : {"loop", "hang"}) {
      TestProcess supervisor({"supervise", "3", GetParam(), action, "1"});
      const auto pids = start(supervisor, 3);
      supervisor.signal(signal);
      EXPECT_EQ(supervisor.line(), said) << action;
      EXPECT_TRUE(all_dead(pids)) << action;
    }
  }
}

// Whatever it does: it says nothing more then, and ranks end by themselves.
TEST_P(SupervisorProcess, EndsAtOnceOnTheSecondCtrlC) {
  TestProcess supervisor({"supervise", "2", GetParam(), "hold_up", "1"});
  const auto pids = start(supervisor, 2);
  EXPECT_EQ(supervisor.line(), "pid hold up");
  supervisor.signal(SIGINT);
  EXPECT_TRUE(supervisor.took(SIGINT));  // two of a kind that are pending at once are one
  // What comes within 50 ms of the first is the same one; more than two do no harm.
  const auto deadline = Clock::now() + 30s;
  while (!is_dead(supervisor.pid()) && Clock::now() < deadline) {
    std::this_thread::sleep_for(100ms);
    supervisor.signal(SIGINT);
  }
  EXPECT_EQ(supervisor.line(), "");
  EXPECT_TRUE(all_dead(pids));
}

TEST_P(SupervisorProcess, IsToldWhatRanksHaveFinished) {
  const auto attempt = [&] {
    TestProcess supervisor({"supervise", "3", GetParam(), "unreported", "-1"});
    const auto pids = start(supervisor, 3);
    supervisor.signal(SIGINT);
    int told = 0;
    auto line = supervisor.line();
    for (; line == "pid 7"; ++told) line = supervisor.line();
    EXPECT_EQ(line, "1 130 stopped by Ctrl-C");
    EXPECT_TRUE(all_dead(pids));
    return told;
  };
  // It does not wait for long.
  EXPECT_EQ(in_some_attempt(attempt, [](int told) { return told == 3; }), 3);
}

TEST_P(SupervisorProcess, StopsWhileRanksStart) {
  TestProcess supervisor({"supervise", "100", GetParam(), "nothing", "0"});
  std::vector<pid_t> started;
  while (started.size() < 10) {
    started = children_of(supervisor.pid());
    std::this_thread::sleep_for(1ms);
  }
  supervisor.signal(SIGTERM);
  auto line = supervisor.line();
  while (line.starts_with("pid ")) line = supervisor.line();  // of a start that was too fast
  EXPECT_EQ(line, "1 130 terminated by SIGTERM");
  EXPECT_TRUE(all_dead(started));
}

INSTANTIATE_TEST_SUITE_P(Each, SupervisorProcess, testing::Values("", R"(sh -c '"$@"; true' sh)"),
                         [](const auto& test) { return test.index == 0 ? "Direct" : "Wrapped"; });

TEST_P(SupervisorProcess, LeavesNoStoppedRankWhenKilled) {
  TestProcess supervisor({"supervise", "2", GetParam(), "loop", "0"});
  const auto pids = start(supervisor, 2);
  ::kill(pids[1], SIGSTOP);
  supervisor.signal(SIGKILL);
  EXPECT_TRUE(all_dead(pids));
}

TEST_P(SupervisorProcess, LeavesNoRankWhoseLifelineIsHeldUp) {
  TestProcess supervisor({"supervise", "2", GetParam(), "withhold", "1"});
  const auto pids = start(supervisor, 2);
  std::this_thread::sleep_for(1s);  // time for a heartbeat
  EXPECT_FALSE(is_dead(pids[1]));
  supervisor.signal(SIGKILL);
  EXPECT_TRUE(all_dead(pids));
}

TEST_P(SupervisorProcess, LeavesNoSharedMemoryWhenKilled) {
  for (const auto* action : {"litter-hang", "litter-stop"}) {
    const SharedMemoryFolder folder;
    TestProcess supervisor({"supervise", "2", GetParam(), action, "1"});
    const auto pids = start(supervisor, 2);
    const auto deadline = Clock::now() + 30s;
    while ((folder.files().empty() || segments_of(pids).empty()) && Clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(folder.files().size(), 1U);
    EXPECT_EQ(segments_of(pids).size(), 1U);
    const bool stops = action == std::string("litter-stop");
    while (stops && !is_stopped(pids[1]) && Clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    supervisor.signal(SIGKILL);
    EXPECT_TRUE(all_dead(pids)) << action;
    EXPECT_EQ(folder.files(), std::vector<std::string>{}) << action;
    EXPECT_EQ(remove_segments_of(pids), 0U) << action;
  }
}

}  // namespace
}  // namespace ucxbench
