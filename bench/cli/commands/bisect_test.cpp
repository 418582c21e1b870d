#include "bench/cli/commands/bisect.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Bisect, FindsEachPlaceInFewSteps) {
  for (std::size_t last = 1; last <= 17; ++last) {
    for (std::size_t planted = 1; planted <= last; ++planted) {
      int asked = 0;
      const auto found = first_with(last, [&](std::size_t at) {
        EXPECT_TRUE(at > 0 && at < last);
        ++asked;
        return at >= planted;
      });
      EXPECT_EQ(found, planted) << last;
      EXPECT_LE(asked, 5);
    }
  }
}

}  // namespace
}  // namespace ucxbench
