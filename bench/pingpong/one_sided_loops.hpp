#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "bench/pingpong/loops_of_link.hpp"
#include "harness/comm/choices.hpp"
#include "harness/comm/link.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::pingpong {

/// The word that atomic operations change, as both sides expect it to be.
class ExpectedWord {
 public:
  ExpectedWord(Api api, std::size_t bytes) : api_(api), bytes_(bytes), value_(cut(first)) {}

  std::uint64_t value() const { return value_; }

  /// An operation that a loop repeats: its operand, what a cswap writes, and what the last one
  /// finds where they come in order.
  struct Repeated {
    std::uint64_t operand, reply, found;
  };

  /// Of so many, at least one. They leave another value than was there before, also of swap and
  /// cswap: of these the first one writes it. The others swap it with itself, or compare with what
  /// was there before and do not write.
  Repeated repeated(std::uint64_t times) {
    const auto before = value_;
    if (api_ == Api::fadd) {
      value_ = cut(before + times);
      return {.operand = 1, .reply = 0, .found = cut(value_ - 1)};
    }
    value_ = cut(mix64(~loops_++));  // of no number that changed() has
    const auto found = times == 1 ? before : value_;
    if (api_ == Api::swap) return {.operand = value_, .reply = 0, .found = found};
    return {.operand = before, .reply = value_, .found = found};
  }

  /// One that changes the word, but every second cswap, which compares with something else.
  std::pair<std::uint64_t, std::uint64_t> changed(std::uint64_t number) {
    const auto fresh = cut(mix64(number + 1));  // mix64(0) is 0
    const auto before = value_;
    switch (api_) {
      case Api::fadd:
        value_ = cut(value_ + fresh);
        return {fresh, 0};
      case Api::swap:
        value_ = fresh;
        return {fresh, 0};
      default:
        if (number % 2 == 0) return {cut(~before), fresh};
        value_ = fresh;
        return {before, fresh};
    }
  }

  std::uint64_t cut(std::uint64_t value) const {
    return bytes_ == 4 ? static_cast<std::uint32_t>(value) : value;
  }

 private:
  // Three additions carry into the upper half of 8 bytes, and leave 4.
  static constexpr std::uint64_t first = 0x01234567fffffffdU;

  Api api_;
  std::size_t bytes_;
  std::uint64_t value_;
  std::uint64_t loops_ = 0;
};

// The loops follow ucx_perftest's run_pingpong for put, and its run_stream_uni for the others,
// which it runs with a window of one (tools/perf/lib/ucp_tests.cc). A target makes progress until a
// signal ends the loop.
template <typename L>
class OneSidedLoops final : public LoopsOfLink<L>, public OneSided {
  using LoopsOfLink<L>::role_;
  using LoopsOfLink<L>::clock_;
  using LoopsOfLink<L>::link_;
  static constexpr bool puts = !L::fetches;

 public:
  template <typename... LinkArguments>
  OneSidedLoops(Api api, Role role, const Clock& clock, LinkArguments&&... arguments)
      : LoopsOfLink<L>(role, clock, std::forward<LinkArguments>(arguments)...),
        api_(api),
        word_(api, 8) {}

  OneSided* one_sided() override { return this; }

  void expose(std::span<std::byte> memory) override { link_.expose(memory); }
  void withdraw() override { link_.withdraw(); }

  void use(const LinkBuffers& buffers) override {
    link_.use(buffers);
    if constexpr (puts) link_.forget_number(static_cast<std::uint8_t>(number_ + 0x80U));
    if constexpr (atomic) {
      word_ = ExpectedWord(api_, buffers.bytes);
      wrong_.clear();
      if (role_ != Role::lead) store(word_.value());
    }
  }

  Interval round_trips(std::uint64_t count, std::uint64_t* stamps) override {
    [[maybe_unused]] const auto found = begin_loop(count);
    const auto time = stamps == nullptr ? iterate(count, [](std::uint64_t) {}) : [&] {
      stamps[0] = clock_.ticks();
      return iterate(count, [&](std::uint64_t i) { stamps[i + 1] = clock_.ticks(); });
    }();
    if constexpr (atomic) check_found(found);
    if constexpr (!puts) end_loop();
    return time;
  }

  Interval one_way(std::uint64_t count) override {
    begin_loop(count);
    Interval time{.begin = monotonic_ns()};
    if (role_ == Role::follow) {
      // What is done here in software, and the lead's flush, need progress of this connection.
      link_.await_signal();
      time.end = monotonic_ns();
    } else {
      // After it the origin knows that the puts are there, as in ucx_perftest.
      carry_out(count);
      time.end = monotonic_ns();
      if (role_ == Role::lead) link_.signal();
    }
    return time;
  }

  Interval both_ways(std::uint64_t count) override {
    Interval time{.begin = monotonic_ns()};
    for (std::uint64_t i = 0; i < count; ++i) link_.send();
    link_.wait_sends();
    time.end = monotonic_ns();
    link_.mark();
    link_.await_signal();
    // The peer's puts are here when it says so; what was got is.
    if (puts) time.end = monotonic_ns();
    this->meet();
    return time;
  }

  std::string described() override {
    if (role_ == Role::follow) {
      link_.await_signal();
      return "";
    }
    auto words = link_.send_described();
    if (role_ == Role::lead) link_.signal();
    return words;
  }

  void carry_out(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) link_.send();
    link_.wait_sends();
    if (puts) link_.flush();
  }

  void exchange_words([[maybe_unused]] std::uint64_t round) override {
    if constexpr (atomic) {
      constexpr std::uint64_t operations = 4;
      for (std::uint64_t i = 0; i < operations; ++i) {
        const auto before = word_.value();
        const auto values = word_.changed(round * operations + i);
        if (role_ == Role::follow) continue;
        link_.set(values.first, values.second);
        link_.send();
        link_.wait_sends();
        check_found(before);
      }
      link_.flush();
      this->meet();
    }
  }

  std::string wrong_value() const override {
    if constexpr (atomic) {
      if (!wrong_.empty() || role_ == Role::lead || load() == word_.value()) return wrong_;
      return fmt::format("{} of {}: the target has {:#x}, expected {:#x}", to_string(api_),
                         spaced_size(link_.buffers().bytes), load(), word_.value());
    }
    return "";
  }

  void completions(std::uint64_t count, std::uint64_t* stamps) override {
    if (role_ == Role::follow) return link_.await_signal();
    if (stamps != nullptr) stamps[0] = clock_.ticks();
    for (std::uint64_t i = 0; i < count; ++i) {
      complete_one();
      if (stamps != nullptr) stamps[i + 1] = clock_.ticks();
    }
    if (role_ == Role::lead) link_.signal();
  }

  void complete_one() override {
    link_.send();
    link_.wait_sends();
    link_.flush();
  }

 private:
  static constexpr bool atomic = requires(L& link) { link.found(); };

  template <typename After>
  Interval iterate(std::uint64_t count, After after) {
    const auto begin = clock_.ticks();
    if constexpr (puts) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (role_ == Role::follow) link_.await_number(number_);
        link_.wait_sends();
        link_.number(number_);
        link_.send();
        if (role_ != Role::follow) link_.await_number(number_);
        ++number_;
        after(i);
      }
      link_.wait_sends();
    } else if (role_ != Role::follow) {
      for (std::uint64_t i = 0; i < count; ++i) {
        link_.send();
        link_.wait_sends();
        after(i);
      }
    }
    return {.begin = begin, .end = clock_.ticks()};
  }

  // Of atomic operations, what the last of `count` finds.
  std::uint64_t begin_loop([[maybe_unused]] std::uint64_t count) {
    if constexpr (atomic) {
      const auto repeated = word_.repeated(count);
      link_.set(repeated.operand, repeated.reply);
      return repeated.found;
    }
    return 0;
  }

  void end_loop() {
    if (role_ == Role::lead) link_.signal();
    if (role_ == Role::follow) link_.await_signal();
  }

  void check_found(std::uint64_t expected) {
    const auto found = word_.cut(link_.found());
    if (role_ == Role::follow || found == expected || !wrong_.empty()) return;
    wrong_ = fmt::format("{} of {} found {:#x}, expected {:#x}", to_string(api_),
                         spaced_size(link_.buffers().bytes), found, expected);
  }

  // Host memory alone: parameters say so.
  std::uint64_t load() const {
    auto* word = link_.buffers().receive;
    return link_.buffers().bytes == 4
               ? std::atomic_ref(*reinterpret_cast<std::uint32_t*>(word)).load()
               : std::atomic_ref(*reinterpret_cast<std::uint64_t*>(word)).load();
  }
  void store(std::uint64_t value) {
    auto* word = link_.buffers().receive;
    if (link_.buffers().bytes == 4) {
      std::atomic_ref(*reinterpret_cast<std::uint32_t*>(word))
          .store(static_cast<std::uint32_t>(value));
    } else {
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(word)).store(value);
    }
  }

  Api api_;
  std::uint8_t number_ = 0;  // of the next put that is waited for, on both sides
  ExpectedWord word_;
  std::string wrong_;
};

}  // namespace ucxbench::pingpong
