#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options/options.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/signals.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// One of the two that are compared: a build of this program, in an environment.
struct AbSide {
  std::string name;                ///< "base", "new": its options are --base and --base-env
  std::string program;             ///< as given, or this program's own path
  Variables added;                 ///< to this process's environment
  std::filesystem::path file;      ///< where its run is kept
  std::optional<Result> result{};  ///< empty before its first launch has ended
  std::vector<int> turns{};        ///< which of all launches were its own, counted from 0
};

/// Measures a suite with two programs in turns, A B, B A, A B, …: each turn is one launch of all
/// cases, measured by the side's own program (`suite FILE --launch K/N`) and added to its run file.
class AbRun {
 public:
  AbRun(std::string suite, int launches, std::optional<std::chrono::nanoseconds> max_time,
        const GlobalOptions& global)
      : suite_(std::move(suite)), launches_(launches), max_time_(max_time), global_(global) {}

  /// Throws Failure(Exit::usage) where both sides are one program in one environment.
  static void check_difference(const AbSide& base, const AbSide& now);

  /// Asks a side's program what it would measure, and returns what it says. Throws
  /// Failure(Exit::usage) for one that cannot measure this suite.
  std::string ask(const AbSide& side, Signals& signals) const;

  /// Ends early after Ctrl-C, after a turn that failed (which is said) and, between two turns of
  /// both, when each side has had its max_time. What was measured is in the sides and on disk.
  Exit measure(AbSide& base, AbSide& now, Signals& signals);

 private:
  struct Turn {
    Exit exit = Exit::done;
    std::string problem{};  ///< one line; empty when done
  };

  Turn take_turn(AbSide& side, int launch, Signals& signals);
  void say_turn(const std::string& name) const;
  void add(AbSide& side, const std::filesystem::path& part, int launch) const;
  void keep(AbSide& side, const std::string& state, const std::string& reason) const;
  void finish(AbSide& side, const AbSide& other, const Turn& last) const;

  std::string suite_;
  int launches_;
  std::optional<std::chrono::nanoseconds> max_time_;
  const GlobalOptions& global_;
  int turns_ = 0;
  std::chrono::steady_clock::time_point begin_{};  ///< of the first turn
  std::string left_out_;
};

}  // namespace ucxbench
