#include "workloads/moe/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/core/refusal_for_test.hpp"

namespace ucxbench::moe {
namespace {

TEST(Popularity, IsWhatItsNameSays) {
  EXPECT_EQ(popularity_of("uniform", 3), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(popularity_of("hot:2", 3), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(popularity_of("zipf:1", 4), (std::vector<double>{1, 1 / 2.0, 1 / 3.0, 1 / 4.0}));
}

TEST(Popularity, RefusesOthers) {
  for (const auto* wrong : {"", "unifrom", "hot", "hot:", "hot:0", "hot:4", "hot:2x", "zipf",
                            "zipf:0", "zipf:-1", "zipf:nan", "zipf:11", "uniform:2"}) {
    EXPECT_EQ(refusal_by([&] { popularity_of(wrong, 3); }),
              std::string("--routing: '") + wrong +
                  "': expected uniform, hot:K with K from 1 to 3 experts, or zipf:S with S above "
                  "0, up to 10");
  }
}

TEST(Router, ChoosesDifferentExperts) {
  Router router(popularity_of("zipf:2", 16), 8, 4);
  for (std::uint64_t token = 0; token < 100; ++token) {
    const auto chosen = router.experts_of(token);
    EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), 8U);
    EXPECT_LT(std::ranges::max(chosen), 16U);
    EXPECT_EQ(router.experts_of(token), chosen);
  }
}

// The first draw follows the weights: of 100,000 tokens a share is right to within a hundredth by
// more than six standard deviations.
TEST(Router, FollowsTheWeights) {
  for (const auto* routing : {"uniform", "zipf:1.2", "hot:3"}) {
    const auto weights = popularity_of(routing, 8);
    const auto sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    Router router(weights, 1, 4);
    std::map<std::uint64_t, int> chosen;
    constexpr int tokens = 100'000;
    for (std::uint64_t token = 0; token < tokens; ++token) ++chosen[router.experts_of(token)[0]];
    for (std::uint64_t expert = 0; expert < 8; ++expert) {
      EXPECT_NEAR(chosen[expert] / double(tokens), weights[expert] / sum, 0.01)
          << routing << " " << expert;
    }
  }
}

TEST(Router, PutsExpertsOnRanksInOrder) {
  const Router router(popularity_of("uniform", 10), 1, 4);
  std::vector<int> ranks;
  for (std::uint64_t expert = 0; expert < 10; ++expert) ranks.push_back(router.rank_of(expert));
  EXPECT_EQ(ranks, (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 2, 3, 3}));
}

TEST(Router, SendsATokenToARankOnce) {
  Router router(popularity_of("uniform", 8), 4, 2);
  const auto by_rank = router.tokens_by_rank(1000, 50);
  ASSERT_EQ(by_rank.size(), 2U);
  for (std::uint64_t token = 1000; token < 1050; ++token) {
    std::set<int> ranks;
    for (const auto expert : router.experts_of(token)) ranks.insert(router.rank_of(expert));
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(std::ranges::count(by_rank[static_cast<std::size_t>(rank)], token),
                ranks.contains(rank) ? 1 : 0);
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(by_rank[0]));
}

}  // namespace
}  // namespace ucxbench::moe
