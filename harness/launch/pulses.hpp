#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

#include "harness/launch/channel.hpp"

namespace ucxbench {

/// Tells other supervisors twice a second that this host lives, also while it is busy between
/// launches: one thread for all of them, which waits for none.
class Pulses {
 public:
  /// That of this process. Its thread ends with who has it last.
  static std::shared_ptr<Pulses> shared();

  Pulses();

  void begin(Channel& channel);
  /// After it the channel is not touched any more.
  void end(Channel& channel);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::set<Channel*> channels_;
  std::jthread thread_;  ///< last, so that it ends first
};

}  // namespace ucxbench
