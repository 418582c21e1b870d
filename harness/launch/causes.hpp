#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// Why a launch failed, as far as it is known yet: one thing, or all root causes that show within a
/// tenth of a second.
class Causes {
 public:
  using Clock = std::chrono::steady_clock;

  /// What is no root cause counts only where nothing is known yet, or where a rank is lost beside
  /// one that cannot run: it may be the lost one that it cannot reach.
  void add(std::string reason, Exit exit, bool root_cause = false);

  bool empty() const { return all_.empty(); }
  /// Called in every round: whether nothing more is to be waited for. `death_to_come`: a rank is
  /// dead whose wrapper has yet to say how it ended.
  bool settled(Clock::time_point now, const std::function<bool()>& death_to_come);

  /// Of one at least: root causes where there are any, else all that count, and the exit of the
  /// last.
  Exit exit() const;
  std::string reasons() const;

 private:
  struct Cause {
    std::string reason;
    Exit exit;
    bool root_cause;
  };

  bool any_root() const;

  std::vector<Cause> all_;
  Clock::time_point since_ = Clock::time_point::max();
  Clock::time_point root_since_ = Clock::time_point::max();
};

}  // namespace ucxbench
