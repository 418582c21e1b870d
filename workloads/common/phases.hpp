#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/comm/transfer_log.hpp"
#include "harness/core/clock.hpp"
#include "harness/result/phases.hpp"

namespace ucxbench {

/// One of a workload's, none of which is PhaseKind::moving: that is within those that compute, and
/// counted for all workloads alike.
struct Phase {
  std::string_view name;
  PhaseKind kind;
};

/// Where one rank's time goes within one iteration: it is in one phase at a time, and the time that
/// UCX's progress takes within a phase that computes is counted apart, as `progress`.
class PhaseClock {
 public:
  explicit PhaseClock(std::span<const Phase> phases) : ticks_(phases.size()) {}

  /// Begins an iteration in phase 0; its phases go into `log`, if there is one.
  void start(std::uint64_t now, TransferLog* log, std::uint16_t rank, std::uint32_t iteration) {
    log_ = log;
    record_ = {.posted_ns = monotonic_ns(),
               .rank = rank,
               .peer = rank,
               .kind = Transfer::phase,
               .iteration = iteration};
    ticks_.assign(ticks_.size(), 0);
    progress_.reset();
    phase_ = 0;
    began_ = since_ = now;
  }
  void enter(std::size_t phase, std::uint64_t now) {
    ticks_[phase_] += now - since_;
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
  /// Empty where progressed() was never called.
  std::optional<std::uint64_t> progress() const { return progress_; }
  std::uint64_t wall() const { return ended_ - began_; }

 private:
  std::vector<std::uint64_t> ticks_;
  TransferLog* log_ = nullptr;
  Transfer record_{};
  std::size_t phase_ = 0;
  std::optional<std::uint64_t> progress_;
  std::uint64_t began_ = 0, since_ = 0, ended_ = 0;
};

}  // namespace ucxbench
