#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/run/checks.hpp"
#include "workloads/common/iteration.hpp"

namespace ucxbench {

/// All that one rank has to say about its launch of a case.
struct RankFacts {
  std::string clock{};  ///< clock_identity
  std::vector<Iteration> iterations{};
  std::vector<Inflow> inflows{};
  std::uint64_t transfers_dropped = 0;
  std::uint64_t peak_buffer_bytes = 0;
  std::uint64_t asleep_ns = 0;  ///< in measured iterations, until it had something to do
  Json counted{};               ///< counted_here, of the exchange alone; null without one
  Checks checks{};              ///< one of each iteration, of warm-up too
};

Json to_json(const RankFacts& facts);
RankFacts parse_rank_facts(const Json& json);

/// One launch of a workload from all ranks' facts, `ranks` in their order. Samples, one per
/// iteration: wall_ms, from the first rank's begin to the last one's end; throughput_GBps,
/// `input_bytes` of all ranks by it; exchange_GBps, bytes received by all ranks by the time in
/// which any of them was on its way, from its sending until it had come (not without both ends of
/// all messages); and of each phase with
/// bytes of its own PHASE_GBps, received by all ranks from when the first one entered it until the
/// last one left it. Of ranks with clocks of their own all these times are at most so long.
/// `exchange_alone_GBps`: the calibration's. `clock_step_ns`: no rate comes from a time too short
/// for such a clock. `mover`: what moves messages, "UCX". The exchange's "exposed_ms" is the time
/// of the phase that waits; without one, all but the gap's and that before other ranks are ready,
/// which is its "not_ready_ms".
LaunchRecord make_record(const std::vector<RankFacts>& ranks, std::span<const Phase> phases,
                         std::uint64_t input_bytes, std::optional<double> exchange_alone_GBps,
                         double clock_step_ns, std::string_view mover);

}  // namespace ucxbench
