#include "bench/p2p/streams.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "harness/comm/meeting_for_test.hpp"

namespace ucxbench::p2p {
namespace {

constexpr std::chrono::milliseconds late{20};
thread_local bool comes_late = false;

/// A rank that is about to look for its messages loses its processor.
class LateDevice final : public CommDevice {
 public:
  explicit LateDevice(std::unique_ptr<CommDevice> device) : device_(std::move(device)) {}

  void connect(Rendezvous& rendezvous, const Rendezvous::Progress& progress) override {
    device_->connect(rendezvous, progress);
  }
  void send(int to, std::uint64_t label, std::span<const std::byte> bytes,
            Message& message) override {
    device_->send(to, label, bytes, message);
  }
  void receive(int from, std::uint64_t label, std::span<std::byte> bytes,
               Message& message) override {
    device_->receive(from, label, bytes, message);
  }
  bool step() override {
    if (std::exchange(comes_late, false)) std::this_thread::sleep_for(late);
    return device_->step();
  }
  bool sleep(int also) override { return device_->sleep(also); }
  void worked() override { device_->worked(); }
  void close() override { device_->close(); }
  std::vector<std::string> lanes(int peer) const override { return device_->lanes(peer); }
  const std::map<std::string, std::string>& effective() const override {
    return device_->effective();
  }

 private:
  std::unique_ptr<CommDevice> device_;
};

std::unique_ptr<Communicator> communicator(Meeting& meeting, int rank) {
  MeetingRank rendezvous(meeting, rank, 2);
  Communicator::Setup setup;
  setup.progress = ProgressMode::parse("event");
  return std::make_unique<Communicator>(
      rendezvous, setup, std::make_unique<LateDevice>(make_ucx_device(rank, 2, setup)));
}

// Meanwhile all of its messages come: taken as the begin, the end of that time would leave nothing
// of their way.
TEST(Stream, BeginsBeforeItsReceiverSaysThatItIsReady) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  const auto clock = Clock::calibrate();
  Meeting meeting;
  auto second = std::async(std::launch::async, [&] { return communicator(meeting, 1); });
  const auto sender = communicator(meeting, 0);
  const auto receiver = second.get();

  std::vector<std::byte> message(8);
  std::vector<std::byte> place(8);
  const Load load{.send = message, .receive = {place}, .window = 4, .messages = 8};
  auto taken = std::async(std::launch::async, [&] {
    receiver->barrier();
    comes_late = true;
    return stream(*receiver, clock, load, {}, {0});
  });
  sender->barrier();
  stream(*sender, clock, load, {1}, {});
  const auto streams = taken.get();
  ASSERT_EQ(streams.size(), 1U);
  EXPECT_EQ(streams[0].messages, 8U);
  constexpr double most_of_it_us = 0.99e3 * static_cast<double>(late.count());
  EXPECT_GE(clock.us(streams[0].ticks), most_of_it_us);
  EXPECT_GE(static_cast<double>(streams[0].end_ns - streams[0].begin_ns), 1e3 * most_of_it_us);
}

}  // namespace
}  // namespace ucxbench::p2p
