#include "bench/pingpong/one_sided_loops.hpp"

#include <gtest/gtest.h>

namespace ucxbench::pingpong {
namespace {

// As the target does it.
std::uint64_t done(Api api, std::uint64_t word, std::pair<std::uint64_t, std::uint64_t> values,
                   const ExpectedWord& of) {
  if (api == Api::fadd) return of.cut(word + values.first);
  if (api == Api::swap) return values.first;
  return word == values.first ? values.second : word;
}

TEST(ExpectedWord, IsWhatTheOperationsLeave) {
  for (const auto api : {Api::fadd, Api::swap, Api::cswap}) {
    for (const std::size_t bytes : {4U, 8U}) {
      ExpectedWord expected(api, bytes);
      auto word = expected.value();
      for (std::uint64_t i = 0; i < 10; ++i) {
        const auto before = word;
        const auto times = i + 1;
        const auto [operand, reply, last] = expected.repeated(times);
        auto found = word;
        for (std::uint64_t time = 0; time < times; ++time) {
          found = word;
          word = done(api, word, {operand, reply}, expected);
        }
        EXPECT_EQ(found, last) << to_string(api) << " of " << bytes;
        EXPECT_EQ(expected.value(), word) << to_string(api) << " of " << bytes;
        EXPECT_NE(word, before) << "a loop that did nothing would pass";
      }
      std::uint64_t changes = 0;
      for (std::uint64_t i = 0; i < 10; ++i) {
        const auto before = word;
        word = done(api, word, expected.changed(i), expected);
        EXPECT_EQ(expected.value(), word) << to_string(api) << " of " << bytes;
        if (word != before) ++changes;
      }
      EXPECT_EQ(changes, api == Api::cswap ? 5U : 10U);
      EXPECT_EQ(word, expected.cut(word));
    }
  }
}

// Additions carry from the lower four bytes into the others.
TEST(ExpectedWord, OfAFewAdditionsDiffersInEachWidth) {
  ExpectedWord four(Api::fadd, 4);
  ExpectedWord eight(Api::fadd, 8);
  const auto upper = eight.value() >> 32U;
  four.repeated(4);
  eight.repeated(4);
  EXPECT_EQ(four.value(), 1U);
  EXPECT_EQ(eight.value() >> 32U, upper + 1);
}

}  // namespace
}  // namespace ucxbench::pingpong
