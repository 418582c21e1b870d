#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "bench/pingpong/loops_of_link.hpp"
#include "harness/comm/link.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

// The loops follow ucx_perftest's run_pingpong and run_stream_uni (tools/perf/lib/ucp_tests.cc), so
// that both tools measure the same thing.
template <MessageLink L>
class LoopsOver final : public LoopsOfLink<L> {
  using LoopsOfLink<L>::role_;
  using LoopsOfLink<L>::clock_;
  using LoopsOfLink<L>::link_;

 public:
  template <typename... LinkArguments>
  LoopsOver(Role role, const Clock& clock, LinkArguments&&... arguments)
      : LoopsOfLink<L>(role, clock, std::forward<LinkArguments>(arguments)...) {}

  void use(const LinkBuffers& buffers) override { link_.use(buffers); }

  Interval round_trips(std::uint64_t count, std::uint64_t* stamps) override {
    const auto begin = clock_.ticks();
    if (stamps != nullptr) {
      stamps[0] = clock_.ticks();
      iterate(count, [&](std::uint64_t i) { stamps[i + 1] = clock_.ticks(); });
    } else {
      iterate(count, [](std::uint64_t) {});
    }
    link_.wait_sends();
    return {.begin = begin, .end = clock_.ticks()};
  }

  Interval one_way(std::uint64_t count) override {
    switch (role_) {
      case Role::lead:
        return send_block(count);
      case Role::follow:
        return receive_block(count);
      case Role::alone:
        break;
    }
    const auto begin = monotonic_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.send();
      link_.receive();
    }
    link_.wait_sends();
    link_.wait_receives();
    return {.begin = begin, .end = monotonic_ns()};
  }

  Interval both_ways(std::uint64_t count) override {
    Interval time{.begin = monotonic_ns()};
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    while (sends < count || receives < count) {
      link_.progress().until([&] {
        return (sends < count && link_.can_send()) || (receives < count && link_.can_receive());
      });
      if (receives < count && link_.can_receive()) {
        link_.start_receive();
        ++receives;
      }
      if (sends < count && link_.can_send()) {
        link_.send();
        ++sends;
      }
    }
    link_.wait_receives();
    time.end = monotonic_ns();
    link_.wait_sends();
    this->meet();
    return time;
  }

  std::string described() override {
    if (role_ == Role::alone) link_.start_receive();
    if (role_ != Role::follow) {
      auto words = link_.send_described();
      if (role_ == Role::alone) link_.wait_receives();
      return words;
    }
    link_.receive();
    link_.wait_receives();
    return "";
  }

 private:
  template <typename After>
  void iterate(std::uint64_t count, After after) {
    if (role_ == Role::follow) {
      for (std::uint64_t i = 0; i < count; ++i) {
        link_.receive();
        link_.wait_receives();
        link_.send();
      }
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.send();
      link_.receive();
      link_.wait_receives();
      after(i);
    }
  }

  Interval send_block(std::uint64_t count) {
    const auto begin = monotonic_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.send();
    }
    link_.wait_sends();
    link_.flush();
    return {.begin = begin, .end = monotonic_ns()};
  }

  Interval receive_block(std::uint64_t count) {
    const auto begin = monotonic_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.receive();
    }
    link_.wait_receives();
    return {.begin = begin, .end = monotonic_ns()};
  }
};

}  // namespace ucxbench::pingpong
