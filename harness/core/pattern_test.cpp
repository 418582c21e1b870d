#include "harness/core/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ucxbench {
namespace {

TEST(Pattern, AcceptsWhatItWroteAtEveryLength) {
  for (std::size_t size = 1; size < 40; ++size) {
    std::vector<std::byte> bytes(size);
    fill_pattern(bytes, 7);
    EXPECT_EQ(find_mismatch(bytes, 7), std::nullopt) << size;
  }
}

TEST(Pattern, NamesTheFirstWrongByte) {
  std::vector<std::byte> bytes(1003);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{8}, std::size_t{501}, std::size_t{1002}}) {
    fill_pattern(bytes, 3);
    bytes[at] ^= std::byte{0x10};
    EXPECT_EQ(find_mismatch(bytes, 3), at);
  }
}

TEST(Pattern, NoticesAnotherSeedZerosAndAShift) {
  std::vector<std::byte> bytes(4096);
  EXPECT_TRUE(find_mismatch(bytes, 1).has_value());
  fill_pattern(bytes, 1);
  EXPECT_TRUE(find_mismatch(bytes, 2).has_value());
  EXPECT_TRUE(find_mismatch(std::span(bytes).subspan(8), 1).has_value());
}

}  // namespace
}  // namespace ucxbench
