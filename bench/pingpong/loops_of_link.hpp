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

 protected:
  template <typename... LinkArguments>
  LoopsOfLink(Role role, const Clock& clock, LinkArguments&&... arguments)
      : role_(role), clock_(clock), link_(std::forward<LinkArguments>(arguments)...) {}

  Role role_;
  Clock clock_;
  L link_;
};

}  // namespace ucxbench::pingpong
