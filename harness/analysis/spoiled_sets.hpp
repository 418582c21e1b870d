#pragma once

#include <string>
#include <vector>

#include "harness/core/names.hpp"
#include "harness/result/flaws.hpp"

namespace ucxbench {

struct Judged;

/// Why one of its cases keeps a whole transport set from being advised: the setting would be in
/// force for messages of every size.
enum class Spoiled {
  wrong_data,       ///< as Flaw
  failed,           ///< as Flaw
  impossible,       ///< as Flaw
  other_transport,  ///< what was asked did not carry it: the path's verdict is "other"
};
inline constexpr Names<Spoiled, 4> spoiled_names = {
    {{Spoiled::wrong_data, "wrong-data"},
     {Spoiled::failed, "failed"},
     {Spoiled::impossible, "impossible"},
     {Spoiled::other_transport, "other-transport"}}};

struct SpoiledSet {
  std::string set;  ///< "shm+tcp", with what else moves its messages: "tcp by mpi"
  Spoiled why;
  std::string key;       ///< of the first such case
  std::string evidence;  ///< "wrong data at byte offset 7 of …", "shm carried it"
};

/// "shm+tcp", "tcp by mpi, on mlx5_0:1": what SpoiledSet::set calls the set of a case.
std::string set_of(const Case& of);

/// Each set once, in the order of the run.
std::vector<SpoiledSet> spoiled_sets(const Judged& run);

}  // namespace ucxbench
