#include "harness/comm/communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

#include "harness/comm/meeting_for_test.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

class Communicators : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("UCX_TLS", "tcp", 1);
    ::setenv("UCX_NET_DEVICES", "lo", 1);
    const auto make = [this](int rank) {
      MeetingRank rendezvous(meeting_, rank, 2);
      return std::make_unique<Communicator>(rendezvous, Communicator::Setup{});
    };
    auto second = std::async(std::launch::async, make, 1);
    here_ = make(0);
    there_ = second.get();
  }

  Meeting meeting_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(std::size_t{4} << 20U);
  std::unique_ptr<Communicator> here_, there_;
};

// UCX 1.13 ends what is in flight by calling back while the worker is destroyed. It is the address
// sanitizer that sees what such a call uses.
TEST_F(Communicators, EndWithMessagesInFlight) {
  auto batch = std::make_unique<Batch>();
  here_->send(1, 1, bytes_, *batch);
  here_->receive(1, 2, bytes_, *batch);
  ASSERT_EQ(batch->in_flight, 2U);
  batch.reset();
  here_.reset();
}

TEST_F(Communicators, RefuseLabelsOfBarriers) {
  Batch batch;
  constexpr auto most = (std::uint64_t{1} << 47U) - 1;
  EXPECT_THROW(here_->send(1, most + 1, {bytes_.data(), 1}, batch), Failure);
  EXPECT_THROW(there_->receive(0, most + 1, {bytes_.data(), 1}, batch), Failure);
  here_->send(1, most, {bytes_.data(), 1}, batch);
  there_->receive(0, most, {bytes_.data() + 1, 1}, batch);
  while (!batch.done()) {
    here_->progress();
    there_->progress();
  }
}

}  // namespace
}  // namespace ucxbench
