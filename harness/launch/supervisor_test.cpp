#include "harness/launch/supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

#include "harness/core/fd.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/launch/test_processes.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using State = LaunchOutcome::State;

// A time-out of those tests that wait for it: longer than a starved rank takes for any step.
constexpr auto patience = 3s;

struct Launched {
  LaunchOutcome outcome;
  std::vector<pid_t> pids;
  std::chrono::duration<double> took;  // since the last rank was up
};

Launched launch(int size, const std::string& action, int who, const std::string& wrap = "",
                std::chrono::milliseconds timeout = 30s) {
  Launched result;
  EXPECT_TRUE(children_end());  // of the test before
  Clock::time_point up = Clock::now();
  Launch wanted;
  wanted.ranks.assign(static_cast<std::size_t>(size), test_rank(action, who, wrap));
  wanted.timeout = timeout;
  wanted.on_report = [&](int, const std::string&, const Hub::Bytes& pid) {
    result.pids.push_back(pid_of({pid.begin(), pid.end()}));
    up = Clock::now();
  };
  Signals signals;
  result.outcome = run_launch(wanted, signals);
  result.took = Clock::now() - up;
  EXPECT_TRUE(all_dead(result.pids));
  EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD) << "an unreaped rank";
  return result;
}

std::string reason(int rank, const std::string& text) {
  return fmt::format("rank {} on {} {} in phase \"work\"", rank, host_name(), text);
}

TEST(Supervisor, RunsRanksThatMeet) {
  for (const int size : {1, 2, 3, 4, 8}) {
    const auto run = launch(size, "nothing", 0);
    EXPECT_EQ(run.outcome.state, State::completed) << run.outcome.reason;
    EXPECT_EQ(run.outcome.exit, Exit::done);
    EXPECT_EQ(run.outcome.reason, "");
    EXPECT_EQ(run.pids.size(), static_cast<std::size_t>(size));
  }
}

TEST(Supervisor, HearsWhatUcxWarnsOf) {
  Launch wanted;
  wanted.ranks.assign(2, test_rank("warn", 1));
  std::vector<std::string> heard;
  wanted.on_warning = [&](int rank, const std::string& line) {
    heard.push_back(fmt::format("{}: {}", rank, line));
  };
  Signals signals;
  testing::internal::CaptureStderr();
  const auto outcome = run_launch(wanted, signals);
  const auto printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome.state, State::completed) << outcome.reason;
  EXPECT_EQ(heard, (std::vector<std::string>{"1: WARN a", "1: ERROR b without an end"}));
  EXPECT_NE(printed.find("ucp_context.c:1071 UCX  WARN  a\n"), std::string::npos);
  EXPECT_TRUE(printed.ends_with("b without an end\n")) << printed;
}

struct Fault {
  const char* action;
  std::string text;
  Exit exit;
  std::chrono::milliseconds limit;
};

class SupervisorFault : public testing::TestWithParam<Fault> {};

// A busy machine may hold up each of these runs; one that is ended too late by itself is so always.
TEST_P(SupervisorFault, EndsTheRunInTime) {
  const Fault& fault = GetParam();
  std::vector<double> took_s;
  while (took_s.size() < 20 && (took_s.empty() || took_s.back() > fault.limit / 1.0s)) {
    took_s.push_back(launch(2, fault.action, 1).took.count());
  }
  EXPECT_LT(took_s.back(), fault.limit / 1.0s);
}

TEST_P(SupervisorFault, OfAnyRankEndsTheRun) {
  const Fault& fault = GetParam();
  for (const int size : {2, 4}) {
    for (const int who : {0, size - 1}) {
      const auto run = launch(size, fault.action, who);
      EXPECT_EQ(run.outcome.state, State::failed);
      EXPECT_EQ(run.outcome.exit, fault.exit);
      const bool said = fault.exit == Exit::wrong_data || fault.text.starts_with("no more");
      EXPECT_EQ(run.outcome.reason, said ? fmt::format("rank {} on {} failed in phase \"work\": {}",
                                                       who, host_name(), fault.text)
                                         : reason(who, fault.text));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, SupervisorFault,
    testing::Values(Fault{"kill", "was killed by signal 9 (Killed)", Exit::lost, 1s},
                    Fault{"torn", "was killed by signal 9 (Killed)", Exit::lost, 1s},
                    Fault{"stop", "was stopped by signal 19 (SIGSTOP)", Exit::lost, 3s},
                    Fault{"exit", "exited with status 3", Exit::lost, 1s},
                    Fault{"leave", "exited with status 0 before its work was done", Exit::lost, 1s},
                    Fault{"abort", "no more", Exit::lost, 1s},
                    Fault{"throw_in_thread", "no more in this thread", Exit::lost, 1s},
                    Fault{"wrong", "byte 7 from rank 0 is wrong", Exit::wrong_data, 1s},
                    // It is told before anything that peers may use is gone.
                    Fault{"hold", "byte 7 from rank 0 is wrong", Exit::wrong_data, 1s}),
    [](const auto& test) { return std::string(test.param.action); });

TEST(Supervisor, KeepsWhatARankReportedThatEndsBadlyAfterIt) {
  const auto outcome = launch(2, "end_badly", 1).outcome;
  EXPECT_EQ(outcome.state, State::completed) << outcome.reason;
}

TEST(Supervisor, EndsARankWhoseMessagesAreNone) {
  for (const auto& [action, text] :
       {std::pair{"number", "bytes on the control connection are no message"},
        std::pair{"words", "a malformed message: "}}) {
    const auto outcome = launch(2, action, 1).outcome;
    EXPECT_EQ(outcome.exit, Exit::lost);
    EXPECT_NE(outcome.reason.find(fmt::format("broke its control connection ({}", text)),
              std::string::npos)
        << outcome.reason;
  }
}

// Of those that die together: on a busy machine one may do so when the run is ended already.
TEST(Supervisor, NamesEveryRankThatWasKilled) {
  const auto all = [](const LaunchOutcome& outcome) {
    for (int rank = 0; rank < 3; ++rank) {
      const auto own = reason(rank, "was killed by signal 9 (Killed)");
      if (outcome.reason.find(own) == std::string::npos) return false;
    }
    return true;
  };
  const auto outcome = in_some_attempt([] { return launch(3, "kill", -1).outcome; }, all);
  EXPECT_TRUE(all(outcome)) << outcome.reason;
}

// There is a limit to the time that stacks take.
bool has_stacks(const LaunchOutcome& outcome) { return names_function(outcome.stacks, "main"); }

TEST(Supervisor, BlamesTheRankThatHangsNotThoseThatWait) {
  const auto outcome = in_some_attempt(
      [] {
        auto end = launch(3, "hang", 1, "", patience).outcome;
        EXPECT_EQ(end.reason, reason(1, "made no progress for 3 s"));
        EXPECT_EQ(end.exit, Exit::lost);
        return end;
      },
      has_stacks);
  // What it does, before what those do that wait.
  const auto head = fmt::format("rank 1 on {} in phase \"work\":\n  process ", host_name());
  EXPECT_TRUE(outcome.stacks.starts_with(head)) << outcome.stacks;
  EXPECT_NE(outcome.stacks.find("rank 2 on "), std::string::npos) << outcome.stacks;
  EXPECT_TRUE(has_stacks(outcome)) << outcome.stacks;
}

TEST(Supervisor, EndsWhenAllWaitForEachOther) {
  const auto run = launch(2, "wait", 1, "", patience);
  EXPECT_EQ(run.outcome.reason, reason(0, "waited 3 s for the other ranks in a barrier") + "; " +
                                    reason(1, "waited 3 s for 'never put' from another rank"));
}

TEST(Supervisor, TakesActivityForLife) {
  EXPECT_EQ(launch(2, "busy", 1, "", patience).outcome.reason, "");
}

TEST(Supervisor, FindsItsRankThroughAForkingWrapper) {
  const std::string wrap = R"(sh -c '"$@"; true' sh)";
  EXPECT_EQ(launch(2, "nothing", 1, wrap).outcome.reason, "");
  EXPECT_EQ(launch(2, "kill", 1, wrap).outcome.reason,
            reason(1, "exited with status 0 before its work was done"));
  const auto stopped = in_some_attempt(
      [&] {
        auto end = launch(2, "stop", 1, wrap).outcome;
        EXPECT_EQ(end.reason, reason(1, "gave no sign of life for 2 s: stopped"));
        return end;
      },
      has_stacks);
  EXPECT_TRUE(has_stacks(stopped)) << stopped.stacks;
  EXPECT_NE(stopped.stacks.find(", stopped"), std::string::npos) << stopped.stacks;
  EXPECT_EQ(stopped.stacks.find("rank 0"), std::string::npos) << stopped.stacks;
}

// However late its wrapper says how it ended.
TEST(Supervisor, BlamesTheRankThatDiedNotTheOneThatMissesIt) {
  for (const auto* delay : {"0", "0.2", "1"}) {
    const auto wrap = fmt::format(R"(sh -c '"$@"; status=$?; sleep {}; exit $status' sh)", delay);
    EXPECT_EQ(launch(2, "kill_and_be_missed", 1, wrap).outcome.reason,
              reason(1, "exited with status 137"))
        << delay;
  }
}

TEST(Supervisor, DoesNotWaitForEverForAWrapper) {
  const auto run = launch(2, "kill_and_be_missed", 1, R"(sh -c '"$@"; sleep 60' sh)");
  EXPECT_EQ(run.outcome.reason,
            fmt::format("rank 0 on {} failed in phase \"work\": missed it", host_name()));
}

TEST(Supervisor, RemovesWhatAKilledRankLeaves) {
  for (const auto* wrap : {"", R"(sh -c '"$@"; true' sh)"}) {
    for (const auto* action : {"litter-kill", "litter-exit", "litter-hang"}) {
      const SharedMemoryFolder folder;
      const auto run = launch(2, action, 1, wrap, patience);
      EXPECT_EQ(run.outcome.exit, Exit::lost);
      EXPECT_EQ(folder.files(), std::vector<std::string>{}) << action << ' ' << wrap;
      EXPECT_EQ(remove_segments_of(run.pids), 0U) << action << ' ' << wrap;
    }
  }
}

TEST(Supervisor, SaysWhatCannotBeStarted) {
  EXPECT_EQ(launch(2, "nothing", 0, "no-such-wrapper -x").outcome.reason,
            "--wrap: cannot run 'no-such-wrapper': No such file or directory");
  EXPECT_EQ(launch(2, "nothing", 0, "no-such-wrapper -x").outcome.exit, Exit::cannot_run);
  EXPECT_EQ(launch(2, "nothing", 0, "'open").outcome.exit, Exit::usage);
  Launch wanted;
  wanted.ranks = {test_rank("nothing", 0), test_rank("nothing", 0)};
  wanted.ranks[1].cpus = {1023};
  Signals signals;
  EXPECT_EQ(run_launch(wanted, signals).reason, "cannot bind rank 1 to CPU 1023: Invalid argument");
}

TEST(Supervisor, ReportsARankWithoutItsControlConnection) {
  const auto run =
      launch(2, "nothing", 0, R"(sh -c 'unset UCXBENCH_INTERNAL_CONTROL_FD; "$@"' sh)");
  EXPECT_EQ(run.outcome.exit, Exit::lost);
  EXPECT_NE(run.outcome.reason.find("exited with status"), std::string::npos);
}

TEST(Supervisor, CarriesTheFailureOfAReport) {
  Launch wanted;
  wanted.ranks.assign(2, test_rank("nothing", 0));
  wanted.on_report = [](int, const std::string&, const Hub::Bytes&) {
    throw Failure(Exit::usage, "the disk is full");
  };
  Signals signals;
  const auto outcome = run_launch(wanted, signals);
  EXPECT_EQ(outcome.reason, "the disk is full");
  EXPECT_EQ(outcome.exit, Exit::usage);
}

TEST(Supervisor, ForgivesAShortStop) {
  Launch wanted;
  wanted.ranks.assign(2, test_rank("loop", 0));
  std::vector<pid_t> pids;
  std::future<void> user;
  wanted.on_report = [&](int, const std::string&, const Hub::Bytes& pid) {
    pids.push_back(pid_of({pid.begin(), pid.end()}));
    if (pids.size() < 2) return;
    user = std::async(std::launch::async, [&] {
      ::kill(pids[1], SIGSTOP);
      while (!is_stopped(pids[1])) std::this_thread::sleep_for(1ms);
      ::kill(pids[1], SIGCONT);
      std::this_thread::sleep_for(1s);
      ::kill(::getpid(), SIGINT);
    });
  };
  Signals signals;
  EXPECT_EQ(run_launch(wanted, signals).reason, "stopped by Ctrl-C");
  EXPECT_TRUE(children_end());
}

// As on a network file system that is gone: who has a lease of the file keeps exec waiting.
TEST(Supervisor, IsNotHeldUpByAProgramThatDoesNotBegin) {
  const auto program =
      std::filesystem::temp_directory_path() / fmt::format("ucxbench-held-{}", ::getpid());
  std::filesystem::copy_file("/bin/true", program);
  const Fd held(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  ::fcntl(held.get(), F_SETSIG, SIGURG);  // which by itself does nothing
  const bool leased = ::fcntl(held.get(), F_SETLEASE, F_WRLCK) == 0;
  if (!leased) {
    std::filesystem::remove(program);
    GTEST_SKIP() << "no leases on this file system";
  }
  Launch wanted;
  wanted.ranks = {{.argv = {program}, .environment = {}, .cpus = {}, .wrap = ""}};
  Signals signals;
  const auto ended = std::async(std::launch::async, [] {
    while (children_of(::getpid()).empty()) std::this_thread::sleep_for(1ms);
    ::kill(::getpid(), SIGINT);
  });
  const auto outcome = run_launch(wanted, signals);
  std::filesystem::remove(program);
  EXPECT_EQ(outcome.state, State::interrupted);
  EXPECT_EQ(outcome.reason, "stopped by Ctrl-C");
  EXPECT_TRUE(children_end());
}

TEST(Supervisor, RestoresMaskAndAction) {
  sigset_t before;
  sigset_t after;
  ::signal(SIGCHLD, SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  launch(2, "nothing", 0);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(::sigismember(&after, SIGINT), ::sigismember(&before, SIGINT));
  EXPECT_EQ(::signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace ucxbench
