#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/launch/hub.hpp"

namespace ucxbench {

/// Which ranks do nothing any more.
class ProgressWatch {
 public:
  using Clock = std::chrono::steady_clock;

  struct Stuck {
    std::string reasons;      ///< of who is to blame; empty where nobody is
    std::vector<int> blamed;  ///< those
    std::vector<int> ranks;   ///< all that are still there, those to blame first
  };

  /// `hub` knows of each rank how far it is; one that has not gone on for `timeout` is stuck.
  ProgressWatch(const Hub& hub, int size, std::chrono::milliseconds timeout);

  /// Starts all limits, at the start and after a time in which nobody looked.
  void begin(Clock::time_point now);

  /// `gone`: of ranks that are no longer there; `sentence`: what a rank does, with its name and
  /// place.
  Stuck look(Clock::time_point now, const std::function<bool(int rank)>& gone,
             const std::function<std::string(int rank, const std::string& what)>& sentence);

 private:
  struct Seen {
    std::uint64_t progress = 0;
    Clock::time_point since;
  };

  bool is_late(int rank, Clock::time_point now);

  const Hub& hub_;
  std::chrono::milliseconds timeout_;
  std::vector<Seen> seen_;
};

}  // namespace ucxbench
