#include "bench/pingpong/pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace ucxbench::pingpong {
namespace {

class FakeRendezvous final : public Rendezvous {
 public:
  FakeRendezvous(int rank, int size, std::map<std::string, Bytes>& store)
      : rank_(rank), size_(size), store_(store) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(std::string_view key, const Bytes& value, const Progress&) override {
    ASSERT_TRUE(store_.emplace(key, value).second) << "put twice: " << key;
  }
  Bytes get(std::string_view key, const Progress&) override { return store_.at(std::string(key)); }
  void barrier(const Progress&) override {}
  void phase(std::string_view) override {}

 private:
  int rank_, size_;
  std::map<std::string, Bytes>& store_;
};

TEST(Pair, CouplesNeighbours) {
  std::map<std::string, Rendezvous::Bytes> store;
  FakeRendezvous even(2, 4, store);
  FakeRendezvous odd(3, 4, store);
  Pair lead(even);
  Pair follow(odd);
  EXPECT_EQ(lead.role(), Role::lead);
  EXPECT_EQ(follow.role(), Role::follow);
  EXPECT_EQ(lead.peer(), 3);
  EXPECT_EQ(follow.peer(), 2);
  EXPECT_EQ(lead.from_lead(5, {}), 5);
  EXPECT_EQ(follow.from_lead(6, {}), 5);
  EXPECT_EQ(follow.from_follow("theirs", {}), "theirs");
  EXPECT_EQ(lead.from_follow("mine", {}), "theirs");
}

TEST(Pair, MeetsEveryOtherRankOnceInTheRoundsOfATournament) {
  std::map<std::string, Rendezvous::Bytes> store;
  for (const int ranks : {2, 4, 6, 8}) {
    std::set<std::pair<int, int>> met;
    for (std::size_t round = 0; round + 1 < static_cast<std::size_t>(ranks); ++round) {
      for (int rank = 0; rank < ranks; ++rank) {
        FakeRendezvous own(rank, ranks, store);
        Pair pair(own, round);
        FakeRendezvous others(pair.peer(), ranks, store);
        const Pair peers(others, round);
        EXPECT_EQ(peers.peer(), rank);
        EXPECT_NE(peers.leads(), pair.leads());
        met.emplace(std::min(rank, pair.peer()), std::max(rank, pair.peer()));
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
  }
}

TEST(Pair, ARankAloneAgreesWithItself) {
  std::map<std::string, Rendezvous::Bytes> store;
  FakeRendezvous only(0, 1, store);
  Pair alone(only);
  EXPECT_EQ(alone.role(), Role::alone);
  EXPECT_EQ(alone.peer(), 0);
  EXPECT_EQ(alone.from_lead(1, {}), 1);
  EXPECT_EQ(alone.from_follow(2, {}), 2);
  EXPECT_EQ(alone.exchange({3}, {}), Rendezvous::Bytes{3});
}

}  // namespace
}  // namespace ucxbench::pingpong
