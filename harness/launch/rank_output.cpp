#include "harness/launch/rank_output.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "harness/core/literal.hpp"
#include "harness/launch/channel.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

// 1 MiB at once: the supervisor has others to watch.
constexpr int most_reads = 16;
// A line that never ends is none.
constexpr std::size_t longest_line = std::size_t{1} << 16U;

// The supervisor has others to watch than who reads this. It waits for a reader who is late, but
// not again for one who did not come.
constexpr milliseconds reader_limit{1000};

void write_to_stderr(std::string_view text) {
  static bool reader_comes = true;
  while (!text.empty()) {
    reader_comes = wait_for(STDERR_FILENO, POLLOUT, reader_comes ? reader_limit : milliseconds(0));
    if (!reader_comes) return;
    // So much a pipe that has room takes at once.
    const auto written =
        ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR) return;  // nobody reads it
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::optional<std::string> ucx_warning(std::string_view line) {
  // "[1668000000.123456] [host:pid:0]      ucp_context.c:1071 UCX  WARN  network device …"
  if (!line.starts_with('[')) return std::nullopt;
  for (const std::string_view level : {"WARN", "ERROR", "FATAL"}) {
    const auto mark = std::string(" UCX  ").append(level).append(" ");
    const auto found = line.find(mark);
    if (found == std::string_view::npos) continue;
    auto text = line.substr(found + mark.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return std::string(level).append(" ").append(text);
  }
  return std::nullopt;
}

void RankOutput::pass_on(const OnWarning& on_warning) {
  std::array<char, std::size_t{1} << 16U> part{};
  for (int reads = 0; reads < most_reads && pipe_; ++reads) {
    const auto count = ::read(pipe_.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      pipe_.reset();
      return;
    }
    begun_.append(part.data(), static_cast<std::size_t>(count));
    auto end = begun_.rfind('\n');
    if (end == std::string::npos && begun_.size() > longest_line) end = begun_.size() - 1;
    if (end == std::string::npos) continue;
    pass_lines(std::string_view(begun_).substr(0, end + 1), on_warning);
    begun_.erase(0, end + 1);
  }
}

void RankOutput::finish(const OnWarning& on_warning) {
  pass_on(on_warning);
  if (begun_.empty()) return;
  begun_ += '\n';
  pass_lines(begun_, on_warning);
  begun_.clear();
}

void RankOutput::pass_lines(std::string_view lines, const OnWarning& on_warning) {
  write_to_stderr(for_terminal(lines));
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size() - 1);
    if (const auto warning = ucx_warning(lines.substr(0, end))) on_warning(*warning);
    lines.remove_prefix(end + 1);
  }
}

}  // namespace ucxbench
