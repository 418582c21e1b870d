#include "harness/comm/transfer_log.hpp"

#include <algorithm>
#include <utility>

namespace ucxbench {

std::vector<Stretch> busy(std::span<const Transfer> transfers) {
  std::vector<Stretch> intervals;
  for (const auto& transfer : transfers) {
    if (transfer.kind != Transfer::phase && transfer.completed_ns > transfer.posted_ns) {
      intervals.push_back({transfer.posted_ns, transfer.completed_ns});
    }
  }
  std::ranges::sort(intervals, {}, &Stretch::begin_ns);
  std::vector<Stretch> all;
  for (const auto& interval : intervals) {
    if (!all.empty() && interval.begin_ns <= all.back().end_ns) {
      all.back().end_ns = std::max(all.back().end_ns, interval.end_ns);
    } else {
      all.push_back(interval);
    }
  }
  return all;
}

std::uint64_t sum_ns(std::span<const Stretch> stretches) {
  std::uint64_t ns = 0;
  for (const auto& [begin, end] : stretches) ns += end - begin;
  return ns;
}

}  // namespace ucxbench
