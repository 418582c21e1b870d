#include <gtest/gtest.h>

#include <set>

#include "bench/p2p/parameters.hpp"
#include "bench/p2p/schedule.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench::p2p {
namespace {

class Rounds : public testing::TestWithParam<Concurrent> {};

TEST_P(Rounds, HaveEveryOrderedPairOnce) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    std::set<std::pair<int, int>> seen;
    std::size_t count = 0;
    for (const auto& round : rounds_of(GetParam(), ranks)) {
      EXPECT_FALSE(round.empty());
      for (const auto& [src, dst] : round) {
        EXPECT_NE(src, dst);
        EXPECT_TRUE(0 <= src && src < ranks && 0 <= dst && dst < ranks);
        seen.emplace(src, dst);
        ++count;
      }
    }
    EXPECT_EQ(count, static_cast<std::size_t>(ranks * (ranks - 1))) << ranks;
    EXPECT_EQ(seen.size(), count) << ranks;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rounds,
                         testing::Values(Concurrent::one, Concurrent::disjoint, Concurrent::all),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Disjoint, RanksHaveOnePartnerAtATime) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto rounds = rounds_of(Concurrent::disjoint, ranks);
    // N − 1 pairings, or N of an odd number, in two directions.
    EXPECT_EQ(rounds.size(), 2U * static_cast<unsigned>(ranks - 1 + ranks % 2)) << ranks;
    for (const auto& round : rounds) {
      std::set<int> busy;
      for (const auto& [src, dst] : round) {
        EXPECT_TRUE(busy.insert(src).second && busy.insert(dst).second) << ranks;
      }
    }
  }
}

TEST(Parameters, ComeBackFromTheirFile) {
  Parameters p;
  p.bytes = 1234;
  p.concurrent = Concurrent::disjoint;
  p.devices = {1, 0};
  p.transports = {"tcp"};
  p.connect_by = ConnectBy::sockaddr;
  p.ranks = 5;
  p.window = 3;
  p.iterations = 4;
  p.warmup_runs = 0;
  p.runs = 7;
  EXPECT_EQ(to_json(parse_parameters(to_json(p))), to_json(p));
}

TEST(Parameters, NameTheCase) {
  Parameters p;
  p.transports = {"tcp", "shm"};
  EXPECT_EQ(case_key(p), "p2p/tag/host-host/tcp+shm/16MiB/concurrent=one/ranks=2");
  EXPECT_THROW(parse_concurrent("none"), Failure);
}

}  // namespace
}  // namespace ucxbench::p2p
