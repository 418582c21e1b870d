#include "harness/launch/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

ProgramEnd run_shell(const std::string& script,
                     std::optional<std::chrono::seconds> limit = std::nullopt) {
  Signals signals;
  return run_program({.argv = {"sh", "-c", script},
                      .environment = {{"PATH", "/usr/bin:/bin"}, {"WORD", "given"}},
                      .limit = limit},
                     signals);
}

// The first entries of PATH were lost where its text was gone before they were read.
TEST(FindProgram, TakesTheFirstThatCanBeRun) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("find-program-{}", getpid());
  const auto before = environment_variable("PATH");
  for (const auto* name : {"first", "second"}) {
    std::filesystem::create_directories(folder / name);
    std::ofstream(folder / name / "found") << "#!/bin/sh\n";
  }
  std::filesystem::permissions(folder / "second" / "found", std::filesystem::perms::owner_all);
  setenv("PATH", fmt::format("{0}/first:{0}/second:{1}", folder.string(), before).c_str(), 1);
  EXPECT_EQ(find_program("found"), folder / "second" / "found");
  std::filesystem::permissions(folder / "first" / "found", std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("found"), folder / "first" / "found");
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_EQ(find_program("./found"), "./found");
  setenv("PATH", before.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(RunProgram, SaysHowItEndedAndWhatItSaid) {
  const auto end = run_shell("echo $WORD $HOME; echo two >&2; cat; exit 3");
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.out, "given\n");
  EXPECT_EQ(end.said, "two\n");
  EXPECT_EQ(run_shell("kill -KILL $$").signal, SIGKILL);
}

TEST(RunProgram, GivesItSignalsAsTheyAreByDefault) {
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before{};
  for (const int signal : {SIGQUIT, SIGPIPE, SIGSEGV}) {
    ::sigaction(signal, &ignored, &before);
    const auto end = run_shell(fmt::format("ulimit -c 0; kill -{} $$", signal));
    ::sigaction(signal, &before, nullptr);
    EXPECT_EQ(end.signal, signal) << end.status;
  }
}

TEST(RunProgram, KillsWhatTakesTooLong) {
  const auto end = run_shell("sleep 60 & sleep 60", std::chrono::seconds(0));
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(RunProgram, PassesCtrlCOn) {
  // Each is sent when the one before has arrived; what comes within 50 ms of it is the same one. A
  // shell that waits is told at once.
  const std::string waits = "sleep 60 & kill -INT $PPID; while :; do wait; done";
  const auto once = run_shell("trap 'kill $!; exit 7' INT; " + waits);
  EXPECT_EQ(once.status, 7);
  const auto twice =
      run_shell("trap 'sleep 0.1; kill -INT $PPID' INT; trap 'kill $!; exit 8' TERM; " + waits);
  EXPECT_EQ(twice.status, 8);
}

TEST(RunProgram, IsHeardWhileItRuns) {
  const auto heard = std::filesystem::temp_directory_path() / fmt::format("heard-{}", ::getpid());
  const int ours = ::dup(STDERR_FILENO);
  const int file = ::open(heard.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
  ::dup2(file, STDERR_FILENO);
  Signals signals;
  // It ends once its words are there.
  const auto script =
      fmt::format("echo fetching >&2; until grep -q fetching {}; do sleep 0.01; done; echo end >&2",
                  heard.string());
  const auto end = run_program({.argv = {"sh", "-c", script},
                                .environment = {{"PATH", "/usr/bin:/bin"}},
                                .limit = std::chrono::seconds(60),
                                .is_heard = true},
                               signals);
  ::dup2(ours, STDERR_FILENO);
  ::close(ours);
  ::close(file);
  std::filesystem::remove(heard);
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.said, "fetching\nend\n");
}

TEST(RunProgram, NamesWhatCannotBeRun) {
  Signals signals;
  try {
    run_program({.argv = {"/nowhere/ucx-bench"}, .environment = {}}, signals);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_NE(std::string(failure.what()).find("cannot run '/nowhere/ucx-bench': No such file"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ucxbench
