#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/ending.hpp"

namespace ucxbench {

/// A program that works for this one, in a process group of its own, with nothing on stdin. It
/// ends, with all that it has started, when this is destroyed and when a signal ends this process.
class HelperProgram {
 public:
  struct Setup {
    std::optional<int> output{};  ///< its stdout; empty: ours
    std::optional<int> errors{};  ///< its stderr; empty: ours
    /// All of it, as "NAME=value"; empty: ours.
    std::optional<std::vector<std::string>> environment{};
    /// What it gets when the thread that starts it ends, and when a signal ends this process.
    int at_our_end = SIGKILL;
  };

  /// argv[0] is searched in PATH. Throws std::system_error where it cannot be started.
  explicit HelperProgram(std::vector<std::string> argv, Setup setup);
  explicit HelperProgram(std::vector<std::string> argv) : HelperProgram(std::move(argv), Setup{}) {}
  ~HelperProgram();
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;

  pid_t pid() const { return pid_; }
  void kill();
  /// Its status, as of waitpid(2), once it has ended. Throws std::system_error when it was lost.
  std::optional<int> status();
  int wait();

 private:
  bool over(int options);

  pid_t pid_ = 0;
  std::optional<SignalCleanup> on_signal_;
  std::optional<int> status_;
};

}  // namespace ucxbench
