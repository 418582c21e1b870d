#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/json.hpp"

namespace ucxbench {

/// By what a rank of one run is taken for a rank of another.
enum class SameBy {
  place,        ///< the host, and on it the GPU, the network devices or the processors
  number,       ///< the numbers, since a run does not say on which host its ranks were
  other_hosts,  ///< the numbers, since the runs have no host in common
};

/// The ranks of a case in two runs: hosts may come in another order, and with them the ranks.
struct SameRanks {
  SameBy by = SameBy::place;
  std::map<int, int> new_of;   ///< by the base run's number; none of another's place
  std::map<int, int> base_of;  ///< by the new run's number
  std::set<std::string> base_alone{}, new_alone{};  ///< hosts that one run alone has
  /// Hosts whose ranks are matched by their order, though their places differ.
  std::set<std::string> in_order{};
  bool several_hosts = false;  ///< either run has ranks on more than one

  using Pair = std::pair<int, int>;
  /// Empty where the other run has no such pair.
  std::optional<Pair> in_new(const Pair& of_base) const;
  std::optional<Pair> in_base(const Pair& of_new) const;
};

/// Of ranks as ranks_of_case() has them.
SameRanks match_ranks(const std::vector<Json>& base, const std::vector<Json>& now);

/// What is to be said of it: one line for each that is not by place; none where all are.
std::vector<std::string> in_words(const SameRanks& same);

}  // namespace ucxbench
