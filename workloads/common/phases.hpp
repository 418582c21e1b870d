#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/core/clock.hpp"
#include "harness/result/phases.hpp"
#include "harness/run/together.hpp"

namespace ucxbench {

/// One of a workload's, none of which is PhaseKind::moving: that is within those that compute, and
/// counted for all workloads alike.
struct Phase {
  std::string_view name;
  PhaseKind kind;
};

/// Twice: how far clocks of two hosts may be apart follows from the time in the second meeting, in
/// which nobody waits for a rank that still prepares something.
inline Met meet(Communicator& comm) {
  comm.barrier();
  return timed_meeting([&] { comm.barrier(); });
}

/// Where one rank's time goes within one iteration: it is in one phase at a time, and the time that
/// UCX's progress takes within a phase that computes is counted apart, as `progress`.
class PhaseClock {
 public:
  explicit PhaseClock(std::span<const Phase> phases) : ticks_(phases.size()) {}

  /// Meets the other ranks, and begins an iteration in phase 0; its phases go into `log`, if there
  /// is one.
  void start(Communicator& comm, const Clock& clock, TransferLog* log, std::uint32_t iteration) {
    met_ = meet(comm);
    began_ns_ = monotonic_ns();
    began_ = since_ = entered_ = clock.ticks();
    const auto rank = static_cast<std::uint16_t>(comm.rank());
    log_ = log;
    record_ = {.posted_ns = began_ns_,
               .rank = rank,
               .peer = rank,
               .kind = Transfer::phase,
               .iteration = iteration};
    ticks_.assign(ticks_.size(), 0);
    when_.assign(ticks_.size(), {});
    progress_.reset();
    phase_ = 0;
  }
  void enter(std::size_t phase, std::uint64_t now) {
    ticks_[phase_] += now - since_;
    if (!when_[phase_]) when_[phase_].emplace(entered_, now);
    when_[phase_]->second = now;
    entered_ = now;
    if (log_ != nullptr) {
      record_.completed_ns = monotonic_ns();
      record_.label = phase_;
      log_->post(record_);
      record_.posted_ns = record_.completed_ns;
    }
    phase_ = phase;
    since_ = now;
  }
  void stop(std::uint64_t now) {
    enter(phase_, now);
    ended_ = now;
  }

  /// `ticks` of the phase that is on belong to UCX.
  void progressed(std::uint64_t ticks) {
    progress_ = progress_.value_or(0) + ticks;
    since_ += ticks;
  }

  std::uint64_t ticks(std::size_t phase) const { return ticks_[phase]; }
  const Met& met() const { return met_; }
  std::uint64_t began_ns() const { return began_ns_; }  ///< by CLOCK_MONOTONIC
  /// Ticks after the begin, from when the phase was first entered until it was last left; empty if
  /// it never was.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> when(std::size_t phase) const {
    const auto& when = when_[phase];
    return when ? std::optional(std::pair(when->first - began_, when->second - began_))
                : std::nullopt;
  }
  /// Empty where progressed() was never called.
  std::optional<std::uint64_t> progress() const { return progress_; }
  std::uint64_t wall() const { return ended_ - began_; }

 private:
  std::vector<std::uint64_t> ticks_;
  std::vector<std::optional<std::pair<std::uint64_t, std::uint64_t>>> when_;
  Met met_;
  std::uint64_t began_ns_ = 0, entered_ = 0;
  TransferLog* log_ = nullptr;
  Transfer record_{};
  std::size_t phase_ = 0;
  std::optional<std::uint64_t> progress_;
  std::uint64_t began_ = 0, since_ = 0, ended_ = 0;
};

}  // namespace ucxbench
