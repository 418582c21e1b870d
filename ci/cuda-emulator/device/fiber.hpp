#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

/// One thread of a kernel's block: it runs until it waits, on a stack of its own.
class Fiber {
 public:
  static constexpr std::size_t STACK_BYTES = 256 << 10;

  /// `stack`: the lowest of STACK_BYTES.
  explicit Fiber(char* stack) : stack_(stack) {}

  /// When it is resumed next, it begins `body`, which never returns: it leaves for good.
  void start(void (*body)());
  /// Called by the scheduler: runs the fiber until it pauses or leaves.
  void resume();
  /// Called on the fiber: goes back to the scheduler, until the next resume().
  void pause() { leave(false); }
  /// As pause(), and is never resumed.
  [[noreturn]] void leave();

  bool owns(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(stack_) < STACK_BYTES;
  }

 private:
  static void enter();
  void leave(bool for_good);

  char* stack_;
  void (*body_)() = nullptr;
  void* position_ = nullptr;   // its stack pointer while it does not run
  void* scheduler_ = nullptr;  // the scheduler's while it does
  // What the address sanitizer knows of the two stacks.
  void* fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
};

/// Room for `count` stacks, side by side, from `begin` on.
struct Stacks {
  explicit Stacks(std::size_t count);

  char* begin;
  std::size_t bytes;
};

}  // namespace emulator
