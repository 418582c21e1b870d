#include "harness/result/paths.hpp"

#include <algorithm>
#include <array>

namespace ucxbench {
namespace {

// The worse a verdict, the higher.
std::ptrdiff_t badness_of_path(const Json& path) {
  constexpr std::array order = {"as-asked", "unknown", "partly", "other"};
  const auto verdict = path.value("verdict", "unknown");
  return std::find(order.begin(), order.end(), verdict) - order.begin();
}

}  // namespace

bool says_worse(const Json& path, const Json& other) {
  const auto difference = badness_of_path(path) - badness_of_path(other);
  const bool better_known =
      path.contains("bytes_by_counter") && !other.contains("bytes_by_counter");
  return difference > 0 || (difference == 0 && better_known);
}

}  // namespace ucxbench
