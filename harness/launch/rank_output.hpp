#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/fd.hpp"

namespace ucxbench {

/// What UCX says in a line of its log at level WARN, ERROR or FATAL, "WARN network device 'eth7' is
/// not available"; empty for any other line.
std::optional<std::string> ucx_warning(std::string_view line);

/// What a rank prints, stdout and stderr alike: passed on to our own stderr in whole lines, so that
/// those of several ranks do not mix.
class RankOutput {
 public:
  using OnWarning = std::function<void(const std::string& warning)>;

  /// `pipe` does not block.
  explicit RankOutput(Fd pipe) : pipe_(std::move(pipe)) {}

  int fd() const { return pipe_.get(); }
  /// Nobody can write any more.
  bool ended() const { return !pipe_; }

  /// Passes on what has come, of a flood only a part at once. Never waits.
  void pass_on(const OnWarning& on_warning);

  /// The same, with a last line that has no end.
  void finish(const OnWarning& on_warning);

 private:
  void pass_lines(std::string_view lines, const OnWarning& on_warning);

  Fd pipe_;
  std::string begun_;  ///< of a line
};

}  // namespace ucxbench
