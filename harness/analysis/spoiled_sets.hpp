#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/unranked.hpp"

namespace ucxbench {

struct Judged;

/// A transport set that one of its cases keeps from being advised: the setting would be in force
/// for messages of every size.
struct SpoiledSet {
  std::string set;       ///< "shm+tcp", with what else moves its messages: "tcp by mpi"
  Unranked why;          ///< of that case
  std::string key;       ///< of the first such case
  std::string evidence;  ///< "wrong data at byte offset 7 of …", "shm carried it"

  std::string_view reason() const { return name_of(unranked_names, why); }
};

/// "shm+tcp", "tcp by mpi, on mlx5_0:1": what SpoiledSet::set calls the set of a case.
std::string set_of(const Case& of);

/// Each set once, in the order of the run.
std::vector<SpoiledSet> spoiled_sets(const Judged& run);

}  // namespace ucxbench
