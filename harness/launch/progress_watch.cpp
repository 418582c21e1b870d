#include "harness/launch/progress_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace ucxbench {

ProgressWatch::ProgressWatch(const Hub& hub, int size, std::chrono::milliseconds timeout)
    : hub_(hub), timeout_(timeout), seen_(static_cast<std::size_t>(size)) {}

void ProgressWatch::begin(Clock::time_point now) {
  for (auto& seen : seen_) seen.since = now;
}

bool ProgressWatch::is_late(int rank, Clock::time_point now) {
  auto& seen = seen_[static_cast<std::size_t>(rank)];
  const auto progress = hub_.progress(rank);
  if (std::exchange(seen.progress, progress) != progress) seen.since = now;
  return now - seen.since > timeout_;
}

ProgressWatch::Stuck ProgressWatch::look(
    Clock::time_point now, const std::function<bool(int rank)>& gone,
    const std::function<std::string(int rank, const std::string& what)>& sentence) {
  const double seconds = std::chrono::duration<double>(timeout_).count();
  std::vector<std::string> stuck;
  std::vector<std::string> waiting;
  std::vector<int> stuck_ranks;
  std::vector<int> late_waiters;
  std::vector<int> working_ranks;
  std::vector<int> waiting_ranks;
  bool all_wait = true;
  for (int rank = 0; rank < static_cast<int>(seen_.size()); ++rank) {
    if (gone(rank)) continue;
    const bool late = is_late(rank, now);
    const auto& awaited = hub_.waiting_for(rank);
    (awaited.empty() ? working_ranks : waiting_ranks).push_back(rank);
    all_wait = all_wait && late && !awaited.empty();
    if (!late) continue;
    (awaited.empty() ? stuck_ranks : late_waiters).push_back(rank);
    if (awaited.empty()) {
      stuck.push_back(sentence(rank, fmt::format("made no progress for {:g} s", seconds)));
    } else {
      waiting.push_back(sentence(rank, fmt::format("waited {:g} s for {}", seconds, awaited)));
    }
  }
  // Who waits for others is to blame only when nobody else is left.
  const auto& guilty = all_wait ? waiting : stuck;
  if (guilty.empty()) return {};
  working_ranks.insert(working_ranks.end(), waiting_ranks.begin(), waiting_ranks.end());
  return {fmt::format("{}", fmt::join(guilty, "; ")),
          std::move(all_wait ? late_waiters : stuck_ranks), std::move(working_ranks)};
}

}  // namespace ucxbench
