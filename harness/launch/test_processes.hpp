#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/launch/process.hpp"

namespace ucxbench {

/// A rank of the test program in which rank `who` does `action`; -1: every rank.
RankCommand test_rank(const std::string& action, int who, const std::string& wrap = "");

/// As a test program prints it; -1 where it is none.
pid_t pid_of(const std::string& text);

/// What a busy machine may hold up: the first of at most 5 attempts that is as wanted, else the
/// last.
template <typename Try, typename Wanted>
auto in_some_attempt(const Try& attempt, const Wanted& wanted) {
  auto result = attempt();
  for (int more = 0; more < 4 && !wanted(result); ++more) result = attempt();
  return result;
}

/// Whether all children of this process end within 20 s: after a stop some may still be dying, and
/// somebody waits for them.
bool children_end();

/// A test program whose standard output is read line by line.
class TestProcess {
 public:
  explicit TestProcess(const std::vector<std::string>& arguments);
  ~TestProcess();
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signal) const;
  /// Waits until a signal that was sent is no longer pending; false if that never happens.
  bool took(int signal) const;
  /// The next line; empty at the end of the output.
  std::string line();

 private:
  pid_t pid_;
  Fd output_;
};

/// A folder of the test's own, in which the test programs make "UCX's" files meanwhile.
class SharedMemoryFolder {
 public:
  SharedMemoryFolder();
  ~SharedMemoryFolder();
  SharedMemoryFolder(const SharedMemoryFolder&) = delete;
  SharedMemoryFolder& operator=(const SharedMemoryFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The names of what is in it.
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

/// System V segments that one of these processes made.
std::vector<int> segments_of(const std::vector<pid_t>& creators);

/// What a test checks at its end, so that nothing of it stays: how many there were.
std::size_t remove_segments_of(const std::vector<pid_t>& creators);

/// Those that the main thread of a process has started, and not reaped.
std::vector<pid_t> children_of(pid_t parent);

/// Not running: gone, or a zombie that nobody has collected yet.
bool is_dead(pid_t pid);

/// Whether `stacks` (LaunchOutcome) have this function; where eu-stack is not installed, that they
/// say so.
bool names_function(const std::string& stacks, const std::string& function);

/// By SIGSTOP.
bool is_stopped(pid_t pid);

/// Waits until all of them are, for at most so long as nothing that works takes on any machine. How
/// long it may take is asked in Supervisor.FaultsEndTheRunInTime.
bool all_dead(const std::vector<pid_t>& pids);

}  // namespace ucxbench
