#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/p2p/parameters.hpp"
#include "bench/p2p/schedule.hpp"

namespace ucxbench::p2p {
namespace {

/// As the ranks' parts make them: who sends to somebody is whom that one receives from.
std::vector<std::vector<Pair>> rounds_of(Concurrent concurrent,
                                         const std::vector<std::string>& hosts) {
  const auto ranks = static_cast<int>(hosts.size());
  std::vector<std::vector<Pair>> rounds;
  std::vector<std::multiset<std::pair<int, int>>> sent;
  std::vector<std::multiset<std::pair<int, int>>> received;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto parts = parts_of(concurrent, hosts, rank);
    rounds.resize(parts.size());
    sent.resize(parts.size());
    received.resize(parts.size());
    for (std::size_t round = 0; round < parts.size(); ++round) {
      for (const auto to : parts[round].to) {
        rounds[round].push_back({rank, to});
        sent[round].emplace(rank, to);
      }
      for (const auto from : parts[round].from) received[round].emplace(from, rank);
    }
  }
  EXPECT_EQ(sent, received) << ranks;
  return rounds;
}

std::vector<std::string> on_one_host(int ranks) {
  return std::vector<std::string>(static_cast<std::size_t>(ranks), "node0");
}

std::vector<std::vector<Pair>> rounds_of(Concurrent concurrent, int ranks) {
  return rounds_of(concurrent, on_one_host(ranks));
}

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

TEST(OneByOne, PairsSendInTheirOrder) {
  const auto rounds = rounds_of(Concurrent::one, 4);
  const auto pairs = ordered_pairs(4);
  ASSERT_EQ(rounds.size(), pairs.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    EXPECT_EQ(rounds[round], std::vector{pairs[round]}) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rounds,
                         testing::Values(Concurrent::one, Concurrent::disjoint, Concurrent::all),
                         [](const auto& tested) {
                           return std::string(name_of(concurrent_names, tested.param));
                         });

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

void expect_one_partner(const std::vector<Pair>& round) {
  std::set<int> busy;
  for (const auto& [src, dst] : round) {
    EXPECT_TRUE(busy.insert(src).second && busy.insert(dst).second);
  }
}

TEST(Disjoint, RoundsAreBetweenHostsOrWithinThem) {
  for (int hosts = 2; hosts <= 7; ++hosts) {
    for (int each = 1; each <= 4; ++each) {
      for (const bool in_turns : {false, true}) {
        std::vector<std::string> places;
        std::vector<int> numbers;  // of ranks on their hosts
        for (int rank = 0; rank < hosts * each; ++rank) {
          const auto host = in_turns ? rank % hosts : rank / each;
          places.push_back("node" + std::to_string(host));
          numbers.push_back(in_turns ? rank / hosts : rank % each);
        }
        const auto at = [](const auto& of, int rank) { return of[static_cast<std::size_t>(rank)]; };
        const auto rounds = rounds_of(Concurrent::disjoint, places);
        const int meetings = hosts - 1 + hosts % 2;
        const int within = each == 1 ? 0 : each - 1 + each % 2;
        ASSERT_EQ(rounds.size(), 2U * static_cast<unsigned>(each * meetings + within));
        std::set<std::pair<int, int>> seen;
        for (std::size_t number = 0; number < rounds.size(); ++number) {
          expect_one_partner(rounds[number]);
          std::set<std::string> partners;  // of the first host
          for (const auto& [src, dst] : rounds[number]) {
            EXPECT_TRUE(seen.emplace(src, dst).second);
            const bool apart = at(places, src) != at(places, dst);
            EXPECT_EQ(apart, number < 2 * static_cast<std::size_t>(each * meetings));
            // By rails first.
            if (number < 2 * static_cast<std::size_t>(meetings)) {
              EXPECT_EQ(at(numbers, src), at(numbers, dst));
            }
            if (at(places, src) == "node0") partners.insert(at(places, dst));
            if (at(places, dst) == "node0") partners.insert(at(places, src));
          }
          EXPECT_LE(partners.size(), 1U) << "a host meets one at a time";
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(hosts * each * (hosts * each - 1)));
      }
    }
  }
}

TEST(Disjoint, HostsOfUnequalSizeMeetAsWell) {
  const auto rounds =
      rounds_of(Concurrent::disjoint, {"a", "b", "b", "c", "c", "c", "a", "d", "e", "e"});
  std::set<std::pair<int, int>> seen;
  for (const auto& round : rounds) {
    expect_one_partner(round);
    for (const auto& [src, dst] : round) EXPECT_TRUE(seen.emplace(src, dst).second);
  }
  EXPECT_EQ(seen.size(), 90U);
}

}  // namespace
}  // namespace ucxbench::p2p
