#include "harness/core/text.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split_text("a, b ,c", ','), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(split_text("", ',').size(), 1U);
}

TEST(Text, SuggestsTheNearestNameOnlyWhenItIsNear) {
  const std::vector<std::string> known = {"nvlink", "tcp", "shm"};
  EXPECT_EQ(unknown_name("transport", "nvlnik", known),
            "unknown transport 'nvlnik': did you mean 'nvlink'? known: nvlink, tcp, shm");
  EXPECT_EQ(unknown_name("transport", "carrier-pigeon", known),
            "unknown transport 'carrier-pigeon': known: nvlink, tcp, shm");
}

}  // namespace
}  // namespace ucxbench
