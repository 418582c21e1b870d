#include "workloads/merge/generator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ucxbench::merge {
namespace {

using Kind = Generator::Kind;

// A join by the book: which build row each probe row meets.
std::uint64_t matches_by_keys(const Generator& generator) {
  std::map<std::uint64_t, std::uint64_t> build;
  for (std::uint64_t row = 0; row < generator.rows(); ++row) {
    EXPECT_TRUE(build.emplace(generator.key(Side::build, row), row).second) << row;
  }
  std::uint64_t matches = 0;
  for (std::uint64_t q = 0; q < generator.rows(); ++q) {
    const auto found = build.find(generator.key(Side::probe, q));
    const auto match = generator.match_of(q);
    EXPECT_EQ(found != build.end(), match.has_value()) << q;
    if (found == build.end() || !match) continue;
    EXPECT_EQ(found->second, *match);
    ++matches;
  }
  return matches;
}

struct Made {
  Generator::Setup setup;
  std::uint64_t matches;
};

class Generators : public testing::TestWithParam<Made> {};

TEST_P(Generators, MakeAsManyMatchesAsTheySay) {
  const Generator generator(GetParam().setup);
  EXPECT_EQ(generator.matches(), GetParam().matches);
  EXPECT_EQ(matches_by_keys(generator), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Generators,
    testing::Values(Made{{.rows_per_rank = 1000, .ranks = 3, .frac_match = 0.3}, 900},
                    Made{{.rows_per_rank = 1000, .ranks = 3, .frac_match = 0}, 0},
                    Made{{.rows_per_rank = 1000, .ranks = 3, .frac_match = 1}, 3000},
                    Made{{.rows_per_rank = 1, .ranks = 1, .frac_match = 0.5}, 0},
                    Made{{.rows_per_rank = 1000, .ranks = 3, .frac_match = 0.3, .skew = 1.2}, 900},
                    Made{{.rows_per_rank = 1000, .ranks = 3, .frac_match = 0.3, .skew = 1}, 900},
                    // dask-cuda: N² · max(⌊⌊L/N⌋·f⌋, 1).
                    Made{{.kind = Kind::dask, .rows_per_rank = 1000, .ranks = 4, .frac_match = 0.3},
                         std::uint64_t{16} * 75},
                    Made{{.kind = Kind::dask, .rows_per_rank = 1000, .ranks = 3, .frac_match = 0.3},
                         std::uint64_t{9} * 99},
                    Made{{.kind = Kind::dask, .rows_per_rank = 10, .ranks = 4, .frac_match = 0},
                         16}));

TEST(Generator, SkewMakesKeysPopular) {
  const Generator even({.rows_per_rank = 10'000, .frac_match = 1});
  const Generator skewed({.rows_per_rank = 10'000, .frac_match = 1, .skew = 1.1});
  const auto distinct = [](const Generator& generator) {
    std::set<std::uint64_t> rows;
    for (std::uint64_t q = 0; q < generator.rows(); ++q) rows.insert(*generator.match_of(q));
    return rows.size();
  };
  EXPECT_EQ(distinct(even), 10'000U);
  EXPECT_LT(distinct(skewed), 5'000U);
}

TEST(Generator, NumbersRowsBeyond32Bits) {
  const auto rows = std::uint64_t{1} << 33U;
  const Generator generator({.rows_per_rank = rows, .ranks = 4, .frac_match = 0.3});
  EXPECT_EQ(generator.rows(), rows * 4);
  EXPECT_NEAR(static_cast<double>(generator.matches()), 0.3 * 4 * static_cast<double>(rows), 1);
  // The permutation stays one: neighbours of the largest row number are distinct and in range.
  std::set<std::uint64_t> keys;
  for (std::uint64_t q = 4 * rows - 1000; q < 4 * rows; ++q) {
    keys.insert(generator.key(Side::probe, q));
  }
  EXPECT_EQ(keys.size(), 1000U);
}

// Whatever the spread, the whole is the same; a changed word is noticed by the sum and the parity.
TEST(Expected, DoesNotDependOnThePartition) {
  const Generator generator({.rows_per_rank = 500, .ranks = 4, .frac_match = 0.4});
  const auto whole = [&](const Spread& spread) {
    Checksum all;
    for (const auto& rank : expected(generator, spread, 2, 0, generator.rows())) all.add(rank);
    return all;
  };
  const auto undivided = whole({});
  EXPECT_EQ(undivided.rows, generator.matches());
  EXPECT_EQ(undivided, whole({.ranks = 4, .batches = 3, .parts = 2}));
  EXPECT_FALSE(undivided == expected(generator, {}, 1, 0, generator.rows()).front());
}

}  // namespace
}  // namespace ucxbench::merge
