#pragma once

// What run_limits.cpp, calibration.cpp and host_limits.cpp ask of a case's pairs.

#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The transport that carried a pair in every launch.
struct Carrier {
  std::string name{};             ///< "nvlink"; empty: not known, or several
  std::set<std::string> lanes{};  ///< of its endpoint, "rc_mlx5/mlx5_0:1"
  std::set<std::string> used{};   ///< of these, what UCX says that the payload took
  bool read = false;              ///< by UCX's words the receiver reads it from the sender
};

/// Of the pairs of a case. Of a workload, whose ranks exchange all at once, one record speaks for
/// all of them.
class Carriers {
 public:
  explicit Carriers(const Case& of);
  const Carrier& between(int src, int dst) const;

 private:
  bool exchange_;
  std::map<std::pair<int, int>, Carrier> by_pair_;
};

bool is_exchange(const Case& of);

/// Several pairs, or ranks of a workload, were under way at once: all that the case has.
bool all_at_once(const Case& of);

/// What a pair moves, as a flow's bytes: GB/s, or of a workload its part of the exchange. 0 if
/// unknown.
double load_of(const Case& of, const Json& pair);

}  // namespace ucxbench
