#pragma once

#include <chrono>
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

  explicit ProgressDisplay(Style style) : style_(style) {}
  ~ProgressDisplay() override { erase(); }

  void launch_begins(const Group& group, int launch, int launches) override;
  void case_done(const Case& measured, std::size_t done, std::size_t total) override;
  void group_skipped(const Group& group) override;

 private:
  void erase();

  Style style_;
  std::string launch_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ucxbench
