#include "harness/comm/transfer_log.hpp"

#include <algorithm>
#include <utility>

namespace ucxbench {

std::vector<Stretch> union_of(std::vector<Stretch> stretches) {
  std::erase_if(stretches, [](const Stretch& of) { return of.end_ns <= of.begin_ns; });
  std::ranges::sort(stretches, {}, &Stretch::begin_ns);
  std::vector<Stretch> all;
  for (const auto& stretch : stretches) {
    if (!all.empty() && stretch.begin_ns <= all.back().end_ns) {
      all.back().end_ns = std::max(all.back().end_ns, stretch.end_ns);
    } else {
      all.push_back(stretch);
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
