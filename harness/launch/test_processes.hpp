#pragma once

#include <string>
#include <vector>

#include "harness/launch/fd.hpp"
#include "harness/launch/process.hpp"

namespace ucxbench {

/// A rank of the test program in which rank `who` does `action`; -1: every rank.
RankCommand test_rank(const std::string& action, int who, const std::string& wrap = "");

/// A test program whose standard output is read line by line.
class TestProcess {
 public:
  explicit TestProcess(const std::vector<std::string>& arguments);
  ~TestProcess();
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signal) const;
  /// The next line; empty at the end of the output.
  std::string line();

 private:
  pid_t pid_;
  Fd output_;
};

/// Not running: gone, or a zombie that nobody has collected yet.
bool is_dead(pid_t pid);

/// Waits at most 3 s for all of them; the documented limit is 1 s, sanitizers and a busy machine
/// need the rest.
bool all_dead(const std::vector<pid_t>& pids);

}  // namespace ucxbench
