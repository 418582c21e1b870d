#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/core/clock.hpp"
#include "workloads/common/calibration.hpp"
#include "workloads/common/iteration.hpp"
#include "workloads/common/memory.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/replay/parameters.hpp"
#include "workloads/replay/stretches.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {

/// Replays one rank's part of a recorded run. A message begins when all messages of this rank have
/// ended that had ended before it in the recording, and the recorded gap has passed.
class Replay {
 public:
  /// By Doing.
  static constexpr std::array<Phase, 3> phases = {{{"gaps", PhaseKind::gap},
                                                   {"transferring", PhaseKind::exchanging},
                                                   {"waiting", PhaseKind::not_ready}}};

  /// `crowded`: ranks outnumber CPUs. Allocates all memory and makes the contents. All ranks call
  /// each function together. Throws Failure.
  Replay(Communicator& comm, WorkloadMemory& memory, const Parameters& p, Script script,
         bool crowded);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// What messages are received into.
  std::vector<Buffer> received() const { return {buffers_[1]}; }

  /// The same messages without gaps: bytes of all ranks by the time they took.
  ExchangeAlone exchange_alone();
  Iteration run(std::uint32_t number, TransferLog* log);
  /// Checks every message that was received. The error in words; empty if there is none.
  std::string verify();

 private:
  struct Run {
    Met met;
    Stretch when;
    std::vector<Stretch> gaps;
  };

  std::span<std::byte> place_of(std::size_t message);
  std::uint64_t seed_of(const Transfer& message) const;
  void fill(std::uint32_t number);
  Run play(bool with_gaps, std::uint32_t number);
  void wait_until(std::uint64_t ns);
  void inject();

  Communicator& comm_;
  Parameters p_;
  Script script_;
  Order order_;
  bool crowded_;
  TransferLog log_;  ///< of the last run; record n is message n
  std::vector<std::size_t> offsets_;
  std::vector<Buffer> buffers_;  ///< sent, received
  std::uint64_t run_ = 0;        ///< the number of the last one, which contents depend on
  std::uint64_t sent_bytes_ = 0, received_bytes_ = 0;
  std::vector<std::byte> staged_;  ///< a message in host memory, to fill or check it
};

}  // namespace ucxbench::replay
