#include "harness/comm/communicator.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ucp/api/ucp.h>

#include <array>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

#include "harness/comm/meeting_for_test.hpp"
#include "harness/core/failure.hpp"

namespace {

thread_local int* endpoints_made = nullptr;

}  // namespace

// In place of the library's: counts.
extern "C" ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t* params,
                                      ucp_ep_h* endpoint) {
  static const auto original =
      reinterpret_cast<decltype(&ucp_ep_create)>(::dlsym(RTLD_NEXT, "ucp_ep_create"));
  if (endpoints_made != nullptr) ++*endpoints_made;
  return original(worker, params, endpoint);
}

namespace ucxbench {
namespace {

/// Notes how many endpoints its rank has at the first barrier.
class CountingRank : public MeetingRank {
 public:
  using MeetingRank::MeetingRank;
  void barrier(const Progress& progress) override {
    if (at_barrier < 0) at_barrier = made;
    MeetingRank::barrier(progress);
  }
  int made = 0;
  int at_barrier = -1;
};

// Where both ranks of a pair do at once, UCX 1.13 breaks down among hundreds.
TEST(Connecting, IsDoneByOneRankOfEachPairFirst) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  constexpr int ranks = 4;
  Meeting meeting;
  const auto connect = [&](int rank) {
    CountingRank rendezvous(meeting, rank, ranks);
    endpoints_made = &rendezvous.made;
    const Communicator connected(rendezvous, {});
    endpoints_made = nullptr;
    rendezvous.MeetingRank::barrier([] {});
    EXPECT_EQ(rendezvous.made, ranks - 1);
    return rendezvous.at_barrier;
  };
  std::vector<std::future<int>> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(std::async(std::launch::async, connect, rank));
  }
  int first = 0;
  for (auto& each : all) {
    const auto own = each.get();
    EXPECT_LE(own, ranks / 2) << "one rank has more than its half";
    first += own;
  }
  EXPECT_EQ(first, ranks * (ranks - 1) / 2);
}

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
  constexpr auto most = (std::uint64_t{1} << 26U) - 1;
  EXPECT_THROW(here_->send(1, most + 1, {bytes_.data(), 1}, batch), Failure);
  EXPECT_THROW(there_->receive(0, most + 1, {bytes_.data(), 1}, batch), Failure);
  here_->send(1, most, {bytes_.data(), 1}, batch);
  there_->receive(0, most, {bytes_.data() + 1, 1}, batch);
  while (!batch.done()) {
    here_->progress();
    there_->progress();
  }
}

/// Has no messages; another lane to each rank, and one to all.
class NamedLanes final : public CommDevice {
 public:
  void connect(Rendezvous&, const Rendezvous::Progress&) override {}
  void send(int, std::uint64_t, std::span<const std::byte>, Message&) override {}
  void receive(int, std::uint64_t, std::span<std::byte>, Message&) override {}
  bool step() override { return false; }
  bool sleep(int) override { return true; }
  void worked() override {}
  void close() override {}
  std::vector<std::string> lanes(int peer) const override {
    return {"tcp/eth" + std::to_string(peer), "sysv/memory"};
  }
  const std::map<std::string, std::string>& effective() const override { return none_; }

 private:
  std::map<std::string, std::string> none_;
};

TEST(Lanes, OfAllPeersAreEachThereOnce) {
  Meeting meeting;
  const auto lanes_of = [&](int rank, int ranks) {
    MeetingRank rendezvous(meeting, rank, ranks);
    return Communicator(rendezvous, {}, std::make_unique<NamedLanes>()).lanes_to_all();
  };
  using Lanes = std::vector<std::string>;
  EXPECT_EQ(lanes_of(0, 3), (Lanes{"tcp/eth1", "sysv/memory", "tcp/eth2"}));
  EXPECT_EQ(lanes_of(1, 3), (Lanes{"tcp/eth0", "sysv/memory", "tcp/eth2"}));
  EXPECT_EQ(lanes_of(0, 1), Lanes{});
}

}  // namespace
}  // namespace ucxbench
