#include "harness/launch/causes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

// After a root cause, the time in which others may still show; and after what may be but the
// consequence of one, the time in which it may. A wrapper may take longer to say how its rank
// ended.
constexpr milliseconds settle_time{100};
constexpr milliseconds search_time{600};
constexpr milliseconds wrapper_time{3000};

}  // namespace

void Causes::add(std::string reason, Exit exit, bool root_cause) {
  const bool explains = exit == Exit::lost && !all_.empty() && all_.back().exit == Exit::cannot_run;
  if (all_.empty() || root_cause || explains) {
    all_.push_back({std::move(reason), exit, root_cause});
  }
}

bool Causes::any_root() const { return std::ranges::any_of(all_, &Cause::root_cause); }

bool Causes::settled(Clock::time_point now, const std::function<bool()>& death_to_come) {
  if (all_.empty()) return false;
  if (any_root()) {
    root_since_ = std::min(root_since_, now);
    return now >= root_since_ + settle_time;
  }
  since_ = std::min(since_, now);
  const auto waited = now - since_;
  return waited >= search_time && (waited >= search_time + wrapper_time || !death_to_come());
}

Exit Causes::exit() const {
  return any_root() ? std::ranges::find(all_, true, &Cause::root_cause)->exit : all_.back().exit;
}

std::string Causes::reasons() const {
  std::vector<std::string_view> reasons;
  for (const auto& cause : all_) {
    if (cause.root_cause == any_root()) reasons.push_back(cause.reason);
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace ucxbench
