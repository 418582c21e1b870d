#include "harness/comm/progress.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/comm/worker.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/leftovers.hpp"

namespace {

/// Of this thread's sleeps: their limits in ms, and what ends each.
struct Sleeps {
  std::vector<int> limits;
  bool woken = false;
};
thread_local Sleeps* sleeps = nullptr;

}  // namespace

// In place of the library's: notes how long it would wait.
extern "C" int poll(pollfd* entries, nfds_t count, int limit) {
  static const auto original = reinterpret_cast<decltype(&poll)>(::dlsym(RTLD_NEXT, "poll"));
  if (sleeps == nullptr) return original(entries, count, limit);
  sleeps->limits.push_back(limit);
  return sleeps->woken ? 1 : 0;
}

namespace ucxbench {
namespace {

/// The limits of so many sleeps, one after the other, none or all of which are woken.
std::vector<int> limits_of(Sleeper& sleeper, ucp_worker_h worker, int count, bool woken = false) {
  Sleeps noted{.limits = {}, .woken = woken};
  while (noted.limits.size() < static_cast<std::size_t>(count)) {
    while (progress_once(worker)) {
    }
    sleeps = &noted;
    sleeper.sleep();
    sleeps = nullptr;
  }
  return noted.limits;
}

using Limits = std::vector<int>;

TEST(Sleeper, LooksByItselfEverLater) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const UcxWorker worker(Api::tag, ProgressMode::parse("event"));
  Sleeper sleeper(worker.handle());
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 11),
            (Limits{1, 2, 4, 8, 16, 32, 64, 128, 256, 500, 500}));
  sleeper.worked();  // what a look has found
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 3), (Limits{1, 2, 4}));
  // Where looks find nothing, those of later waits begin later.
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 1, true), Limits{8});
  sleeper.worked();
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 4), (Limits{8, 16, 32, 64}));
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 1, true), Limits{128});
  sleeper.worked();
  EXPECT_EQ(limits_of(sleeper, worker.handle(), 1), Limits{64});

  Sleeper silent(worker.handle(), false);
  EXPECT_EQ(limits_of(silent, worker.handle(), 7), (Limits{1, 2, 4, 8, 16, 16, 16}));
}

std::vector<std::string> threads() { return entries_of("/proc/self/task"); }

/// Whether the mask `name` of a thread ("SigBlk:", "SigPnd:") comes to have this signal, or not to
/// have it, within 10 s.
bool comes_to(const std::string& thread, const std::string& name, int signal, bool have) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    std::ifstream status("/proc/self/task/" + thread + "/status");
    for (std::string key, value; status >> key && std::getline(status, value);) {
      if (key != name) continue;
      if (((std::stoull(value, nullptr, 16) >> (signal - 1) & 1U) != 0) == have) return true;
    }
    ::usleep(1000);
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

[[noreturn]] void stop_with_a_progress_thread() {
  const UcxWorker worker(Api::tag, ProgressMode::parse("thread"));
  const auto before = threads();
  const ThreadProgress progress(worker.handle());
  std::vector<std::string> started;
  std::ranges::set_difference(threads(), before, std::back_inserter(started));
  if (started.size() != 1 || !comes_to(started.front(), "SigBlk:", SIGTERM, true)) ::_exit(2);
  stop_and_leave_nothing(std::time(nullptr));
  ::_exit(comes_to(started.front(), "SigPnd:", SIGRTMAX, false) ? 0 : 1);
}

// What a thread makes in shared memory after the clean-up would stay.
TEST(ThreadProgress, IsStoppedBeforeTheCleanUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(stop_with_a_progress_thread(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ucxbench
