#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ci/cuda-emulator/device/fiber.hpp"
#include "ci/cuda-emulator/device/random.hpp"
#include "ci/cuda-emulator/device/shadow.hpp"
#include "ci/cuda-emulator/device/thread.hpp"

namespace emulator {

constexpr unsigned MOST_BLOCK_THREADS = 1024;

/// The threads of one block at a time, as fibers: they take turns where they meet, and now and then
/// before an atomic, in an order that is drawn. A mistake that is seen ends the launch.
class Block {
 public:
  Block();

  /// Runs `body` in each of so many threads. Whether all went well.
  bool run(unsigned threads, void (*body)(), Random& random);
  /// To be called before the first block of a launch.
  void begin_launch();

  // The rest is called by the thread that runs now.

  bool in_thread() const { return current_ < threads_; }
  unsigned thread() const { return current_; }
  const Now& now() const { return now_; }
  bool on_own_stack(std::uintptr_t address) const { return fibers_[current_].owns(address); }
  bool on_a_stack(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(stacks_.begin) < stacks_.bytes;
  }

  // See thread.hpp.
  void meet(const Meeting& meeting, bool is_barrier);
  LaneValues meet_lanes(const Meeting& meeting, std::uint64_t value, bool is_barrier);
  /// Lets others go first, now and then.
  void maybe_pause();
  /// Ends the launch.
  [[noreturn]] void fail(const std::string& what);
  /// What was seen; empty: no mistake.
  const std::string& mistake() const { return mistake_; }

 private:
  enum class State { READY, WAITING, ENDED };
  struct Thread {
    State state = State::READY;
    Meeting meeting;
    std::uint64_t value = 0;
    LaneValues* values = nullptr;
  };

  static void run_thread();
  void pause();
  void next_interval();
  void join_lanes(unsigned first, unsigned mask);
  bool lanes_are_there(unsigned first, const Meeting& meeting);
  std::string why_none_is_ready() const;

  Stacks stacks_;
  std::vector<Fiber> fibers_;
  std::vector<Thread> all_;
  std::vector<unsigned> ready_;
  // See Now::lanes; of each thread.
  std::vector<std::array<std::uint16_t, WARP_THREADS>> lanes_;
  bool lanes_met_ = false;
  Now now_;
  Random* random_ = nullptr;
  void (*body_)() = nullptr;
  unsigned threads_ = 0, current_ = 0, waiting_for_all_ = 0;
  std::string mistake_;
};

Block& block();

}  // namespace emulator
