#include "bench/cli/commands/progress_display.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/cli/plan/estimate.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {

ProgressDisplay::Style ProgressDisplay::style(const std::string& option, bool quiet) {
  if (quiet || option == "never") return Style::never;
  if (option == "plain") return Style::plain;
  if (option == "bar") return Style::bar;
  const char* term = std::getenv("TERM");
  const bool able =
      isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
  return able ? Style::bar : Style::plain;
}

void ProgressDisplay::begins(const std::string& time) const {
  if (style_ != Style::never && !time.empty()) print_to(stderr, "{}\n", time);
}

std::string ProgressDisplay::left() const {
  if (done_ == 0) return "";
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  double seconds = spent.count() / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  if (most_) {
    seconds =
        std::clamp(std::chrono::duration<double>(*most_).count() - spent.count(), 0.0, seconds);
  }
  return rough_time(seconds) + " left";
}

void ProgressDisplay::launch_begins(const LaunchPlan& plan, int launch, int launches) {
  launch_ = fmt::format("launch {}/{} {}", launch + 1, launches, plan.name);
  if (style_ != Style::plain) return;
  // Once for all plans of a launch.
  const auto time = std::exchange(told_, launch) == launch ? "" : left();
  if (!time.empty()) print_to(stderr, "about {}\n", time);
  print_to(stderr, "{}\n", launch_);
}

void ProgressDisplay::case_done(const Case& measured, std::size_t done, std::size_t total) {
  done_ = done;
  total_ = total;
  if (style_ != Style::bar) return;
  // At most 80 columns, so that a narrow terminal does not wrap and leave lines behind.
  const auto line = fmt::format("{}  {}/{}  {}  {}", launch_, done, total, left(), measured.key);
  print_made(stderr, clear_line);
  print_to(stderr, "{:.79}", on_one_line(line));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressDisplay::cannot_run(const LaunchPlan& plan) {
  const auto name = plan.set.name() + ": ";
  const bool named = plan.unavailable.starts_with(name);
  const auto line = fmt::format("cannot run here: {}{}\n", named ? "" : name, plan.unavailable);
  if (!refused_.insert(line).second) return;
  erase();
  print_to(stderr, "{}", line);
}

void ProgressDisplay::say(const std::string& line) {
  erase();
  print_to(stderr, "ucx-bench: {}\n", line);
}

void ProgressDisplay::erase() {
  if (!drawn_) return;
  print_made(stderr, clear_line);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace ucxbench
