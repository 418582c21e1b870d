#pragma once

#include <pthread.h>

#include "harness/launch/channel.hpp"
#include "harness/launch/fd.hpp"

namespace ucxbench {

/// Ties this rank to its supervisor: a sleeping thread that ends the process at once, without
/// destructors, when the control connection ends (the supervisor died, or does not want us any
/// more), and that reports `activity()` every half second. It works through any wrapper that keeps
/// inherited descriptors open, where the kernel's parent-death signal would reach the wrapper only.
class Lifeline {
 public:
  /// `channel` must outlive this.
  explicit Lifeline(Channel& channel);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

 private:
  static void* run(void* self);
  void watch();

  Channel& channel_;
  Fd stop_;
  pthread_t thread_{};
};

}  // namespace ucxbench
