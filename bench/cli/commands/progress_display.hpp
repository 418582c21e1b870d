#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "harness/run/runner.hpp"

namespace ucxbench {

/// Progress on stderr: on a terminal one line with the time left, erased at the end; elsewhere one
/// line per launch. Drawn only when the runner reports, which is between timed regions.
class ProgressDisplay final : public RunObserver {
 public:
  enum class Style { never, plain, bar };
  /// "auto" is a bar on a terminal that is not dumb, lines elsewhere.
  static Style style(const std::string& option, bool quiet);

  /// `most` is when the run ends at the latest.
  ProgressDisplay(Style style, std::optional<std::chrono::nanoseconds> most)
      : style_(style), most_(most) {}
  ~ProgressDisplay() override { erase(); }

  /// `time`: how long it takes, in words; none where it is empty.
  void begins(const std::string& time) const;

  void launch_begins(const LaunchPlan& plan, int launch, int launches) override;
  void case_done(const Case& measured, std::size_t done, std::size_t total) override;
  void cannot_run(const LaunchPlan& plan) override;

  /// A line for the user that is no progress.
  void say(const std::string& line);

 private:
  void erase();
  /// "12 s left", by what was done so far; empty before the first case.
  std::string left() const;

  Style style_;
  std::optional<std::chrono::nanoseconds> most_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::set<std::string> refused_;  ///< what cannot run, each said once
  int told_ = -1;                  ///< the launch that `left` was last said before
  std::string launch_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ucxbench
