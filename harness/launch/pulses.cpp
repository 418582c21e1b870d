#include "harness/launch/pulses.hpp"

#include <chrono>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr std::chrono::milliseconds pulse_period{500};

// What is wrong the main thread finds too.
bool tell(Channel& channel) {
  try {
    channel.offer({{"type", "pulse"}});
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

std::shared_ptr<Pulses> Pulses::shared() {
  static std::mutex mutex;
  static std::weak_ptr<Pulses> known;
  const std::lock_guard lock(mutex);
  auto pulses = known.lock();
  if (!pulses) known = pulses = std::make_shared<Pulses>();
  return pulses;
}

Pulses::Pulses() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Pulses::begin(Channel& channel) {
  const std::lock_guard lock(mutex_);
  channels_.insert(&channel);
}

void Pulses::end(Channel& channel) {
  const std::lock_guard lock(mutex_);
  channels_.erase(&channel);
}

void Pulses::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    std::erase_if(channels_, [](Channel* channel) { return !tell(*channel); });
    wake_.wait_for(lock, stop, pulse_period, [] { return false; });
  }
}

}  // namespace ucxbench
