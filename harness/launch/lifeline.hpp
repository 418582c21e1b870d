#pragma once

#include <pthread.h>

#include <cstddef>
#include <ctime>
#include <mutex>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// Ties this rank to its supervisor: a sleeping thread that ends the process at once, without
/// destructors but with nothing left in shared memory, when the control connection ends (the
/// supervisor died, or does not want us any more), and that reports `activity_of_all()` every half
/// second. It works through any wrapper that keeps inherited descriptors open. While it lives, the
/// death of the parent, be it the supervisor or a wrapper, continues a stopped rank instead of
/// killing it, so that this thread gets to run. When the user ends the run, it reports what the
/// rank has finished, whatever the rank's own threads do.
class Lifeline {
 public:
  /// `channel` must outlive this. `stop_fd` becomes readable when the run is ended; -1: never.
  /// `ranks`: of the run.
  Lifeline(Channel& channel, Fd stop_fd, std::size_t ranks);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// As Rendezvous::at_stop.
  void at_stop(Rendezvous::Finished finished);

  /// Ends the process so by itself, from any of its threads.
  [[noreturn]] void end(Exit exit) const;

 private:
  static void* run(void* self);
  void watch();
  void report_finished();

  Channel& channel_;
  std::time_t since_ = std::time(nullptr);
  Fd stop_;
  Fd stop_call_;
  bool gives_way_;  ///< at its end
  std::mutex finished_mutex_;
  Rendezvous::Finished finished_;
  pthread_t thread_{};
};

}  // namespace ucxbench
