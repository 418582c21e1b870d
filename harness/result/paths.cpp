#include "harness/result/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "harness/core/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// The worse a verdict, the higher.
std::ptrdiff_t badness_of_path(const Json& path) {
  constexpr std::array order = {"as-asked", "unknown", "partly", "other"};
  const auto verdict = path.value("verdict", "unknown");
  return std::find(order.begin(), order.end(), verdict) - order.begin();
}

}  // namespace

std::map<std::string, double> carried_by(const Json& path) {
  std::map<std::string, double> shares;
  const auto found = path.find("carried_by");
  if (found == path.end() || !found->is_object()) return shares;
  for (const auto& [member, share] : found->items()) {
    if (share.is_number()) shares[on_one_line(member)] = share.get<double>();
  }
  return shares;
}

std::string shares_in_words(const std::map<std::string, double>& shares) {
  std::vector<std::string> parts;
  for (const auto& [member, share] : shares) {
    parts.push_back(share >= nearly_all_payload ? member : member + " " + share_text(share));
  }
  return join(parts, ", ");
}

bool says_worse(const Json& path, const Json& other) {
  const auto difference = badness_of_path(path) - badness_of_path(other);
  const bool better_known =
      path.contains("bytes_by_counter") && !other.contains("bytes_by_counter");
  return difference > 0 || (difference == 0 && better_known);
}

}  // namespace ucxbench
