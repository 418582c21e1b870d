#include "harness/core/helper_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  /// Once nobody has the other end any more.
  std::string all() {
    ::close(std::exchange(ends[1], -1));
    std::string text;
    std::array<char, 100> part{};
    for (ssize_t count = 0; (count = ::read(ends[0], part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  std::array<int, 2> ends{};
};

/// Of a child that ends so.
template <typename Act>
int status_of(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(HelperProgram, SaysAndEndsAsItDoes) {
  Pipe out;
  HelperProgram program({"sh", "-c", "echo said; cat; exit 3"}, {.output = out.ends[1]});
  EXPECT_EQ(out.all(), "said\n");
  EXPECT_EQ(WEXITSTATUS(program.wait()), 3);
  EXPECT_EQ(WEXITSTATUS(program.status().value()), 3);
  EXPECT_THROW(HelperProgram({"/no/program"}), std::system_error);
}

TEST(HelperProgram, HasTheEnvironmentAndTheOutputsItIsGiven) {
  Pipe out;
  Pipe errors;
  HelperProgram program(
      {"sh", "-c", "echo $WORD $HOME; echo two >&2"},
      {.output = out.ends[1],
       .errors = errors.ends[1],
       .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "WORD=given"}});
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(out.all(), "given\n");
  EXPECT_EQ(errors.all(), "two\n");
}

// Killed, we can do nothing any more: the kernel tells it.
TEST(HelperProgram, GetsASignalWhenWeAreKilled) {
  Pipe out;
  const auto status = status_of([&] {
    const HelperProgram program({"sh", "-c",
                                 "trap 'echo asked; exit' TERM; echo ready; kill -KILL $PPID; "
                                 "while :; do sleep 0.01; done"},
                                {.output = out.ends[1], .at_our_end = SIGTERM});
    ::pause();
  });
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(out.all(), "ready\nasked\n");
}

// The pipe ends when the last that has it has ended.
TEST(HelperProgram, IsKilledWithWhatItStarted) {
  Pipe out;
  {
    HelperProgram program({"sh", "-c", "sleep 60 & sleep 60"}, {.output = out.ends[1]});
    EXPECT_FALSE(program.status());
  }
  EXPECT_EQ(out.all(), "");
}

TEST(HelperProgram, LeavesNothingBehindThatItStarted) {
  Pipe out;
  HelperProgram program({"sh", "-c", "sleep 60 &"}, {.output = out.ends[1]});
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(out.all(), "");
}

TEST(Ending, ASignalCleansUp) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Pipe out;
    const auto file =
        std::filesystem::path(testing::TempDir()) / ("half-written-" + std::to_string(::getpid()));
    const auto status = status_of([&] {
      end_at_once_on_signals();
      std::ofstream(file) << "half";
      const SignalCleanup half(file);
      const HelperProgram program({"sh", "-c", "sleep 60 & sleep 60"}, {.output = out.ends[1]});
      ::raise(signal);
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(Exit::interrupted));
    EXPECT_EQ(out.all(), "");
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST(Ending, WorkIsLimitedByProcessorTime) {
  const auto status = status_of([] {
    end_at_once_on_signals();
    end_within(std::chrono::milliseconds(20));
    while (::clock() >= 0) {
    }
  });
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(Exit::interrupted));
  const auto unlimited = status_of([] {
    end_at_once_on_signals();
    end_within(std::chrono::milliseconds(20));
    end_within({});
    const auto begin = ::clock();
    while (::clock() - begin < CLOCKS_PER_SEC / 20) {
    }
    ::_exit(7);
  });
  EXPECT_EQ(WEXITSTATUS(unlimited), 7);
}

}  // namespace
}  // namespace ucxbench
