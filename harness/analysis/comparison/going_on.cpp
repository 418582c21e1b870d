#include "harness/analysis/comparison/going_on.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ucxbench {

std::vector<std::string> undecided_cases(const Result& base, const Result& now,
                                         const Demands& demands) {
  std::map<std::string, double> least;  // p of each case
  for (const auto& row : compare(base, now, demands).series) {
    if (row.method != Method::duets || row.decided) continue;
    const auto [at, is_new] = least.emplace(row.key, row.p_of_all);
    if (!is_new) at->second = std::min(at->second, row.p_of_all);
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [key, p] : least) sorted.emplace_back(p, key);
  std::ranges::sort(sorted);
  std::vector<std::string> keys;
  for (const auto& [p, key] : sorted) keys.push_back(key);
  return keys;
}

std::size_t affordable_cases(const std::vector<int>& looks, int done, int next,
                             double launches_of_one) {
  int until = 0;
  for (const auto look : looks) {
    if (look > done && look - done <= launches_of_one) until = std::max(until, look);
  }
  if (until < next) return 0;
  const auto beside_it = (launches_of_one - (until - done)) / (next - done);
  return 1 + static_cast<std::size_t>(std::min(std::floor(beside_it), std::ceil(beside_it / 2)));
}

}  // namespace ucxbench
