#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/result/interval.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What UCX expected of the messages of a case, beside what was measured (`--expected`).
struct Expected {
  double measured = 0;                        ///< median, in the metric's unit
  double expected = 0;                        ///< likewise
  bool by_request = false;                    ///< else by ucp_ep_evaluate_perf, which is coarse
  std::string protocol{};                     ///< in UCX's words
  std::optional<std::uint64_t> from{}, to{};  ///< sizes in bytes that have it; `to` empty: no end
  bool is_rate = false;
  std::optional<Interval> interval{};  ///< of `measured`

  /// measured time / expected time, of a rate as well.
  double times_as_long() const { return is_rate ? expected / measured : measured / expected; }
  std::optional<Interval> times_interval() const;
};

/// Of "latency_us" or "bandwidth_GBps"; empty where one of the two is not known.
std::optional<Expected> expected_of(const Case& of, const std::string& metric);

}  // namespace ucxbench
