#include "harness/comm/progress.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/comm/worker.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/leftovers.hpp"

namespace ucxbench {
namespace {

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
