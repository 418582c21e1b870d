#pragma once

#include <utility>

#include "bench/pingpong/loops.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

/// What the loops over any link have in common.
template <typename L>
class LoopsOfLink : public Loops {
 public:
  void flush() override { link_.flush(); }

  void meet() override {
    if (role_ == Role::alone) return;
    link_.signal();
    link_.await_signal();
  }

  void turn() override { link_.progress().turn(); }

  std::uint64_t started() const override { return started_; }

 protected:
  template <typename... LinkArguments>
  LoopsOfLink(Role role, const Clock& clock, LinkArguments&&... arguments)
      : role_(role), clock_(clock), link_(std::forward<LinkArguments>(arguments)...) {}

  std::uint64_t start() { return start_at(clock_.ticks()); }
  std::uint64_t start_at(std::uint64_t ticks) { return started_ = ticks; }

  Role role_;
  Clock clock_;
  L link_;

 private:
  std::uint64_t started_ = 0;
};

}  // namespace ucxbench::pingpong
