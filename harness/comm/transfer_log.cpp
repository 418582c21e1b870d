#include "harness/comm/transfer_log.hpp"

#include <algorithm>
#include <utility>

namespace ucxbench {

std::uint64_t busy_ns(std::span<const Transfer> transfers) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
  for (const auto& transfer : transfers) {
    if (transfer.kind != Transfer::phase && transfer.completed_ns > transfer.posted_ns) {
      intervals.emplace_back(transfer.posted_ns, transfer.completed_ns);
    }
  }
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t busy = 0;
  std::uint64_t until = 0;
  for (const auto& [from, to] : intervals) {
    if (to > until) busy += to - std::max(from, until);
    until = std::max(until, to);
  }
  return busy;
}

}  // namespace ucxbench
