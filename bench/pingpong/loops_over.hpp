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

  std::uint64_t round_trips(std::uint64_t count, std::uint64_t* stamps) override {
    const auto start = this->start();
    if (stamps != nullptr) {
      stamps[0] = clock_.ticks();
      iterate(count, [&](std::uint64_t i) { stamps[i + 1] = clock_.ticks(); });
    } else {
      iterate(count, [](std::uint64_t) {});
    }
    link_.wait_sends();
    return clock_.ticks() - start;
  }

  std::uint64_t one_way(std::uint64_t count) override {
    switch (role_) {
      case Role::lead:
        return send_block(count);
      case Role::follow:
        return receive_block(count);
      case Role::alone:
        break;
    }
    const auto start = this->start();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.send();
      link_.receive();
    }
    link_.wait_sends();
    link_.wait_receives();
    return clock_.ticks() - start;
  }

  std::uint64_t both_ways(std::uint64_t count) override {
    this->meet();
    const auto start = this->start();
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
    const auto ticks = clock_.ticks() - start;
    link_.wait_sends();
    this->meet();
    return ticks;
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

  std::uint64_t send_block(std::uint64_t count) {
    link_.signal();
    const auto start = this->start();
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.send();
    }
    link_.wait_sends();
    link_.flush();
    return clock_.ticks() - start;
  }

  std::uint64_t receive_block(std::uint64_t count) {
    link_.await_signal();
    auto start = this->start();
    if constexpr (requires { link_.signalled(); }) start = this->start_at(link_.signalled());
    for (std::uint64_t i = 0; i < count; ++i) {
      link_.receive();
    }
    link_.wait_receives();
    return clock_.ticks() - start;
  }
};

}  // namespace ucxbench::pingpong
