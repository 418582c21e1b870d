#include "harness/result/words.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Words, RoundAShareEverywhereAlike) {
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(share_text(0.004), "<1 %");
  EXPECT_EQ(share_text(0.226), "23 %");
  EXPECT_EQ(share_text(1.25), "125 %");
}

}  // namespace
}  // namespace ucxbench
