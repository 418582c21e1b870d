#include "bench/cli/plan/suite_plan.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

TEST(OneLaunch, IsANumberOfSoMany) {
  EXPECT_EQ(parse_one_launch("3/10").number, 3);
  EXPECT_EQ(parse_one_launch("3/10").of, 10);
  EXPECT_EQ(parse_one_launch("1/1").of, 1);
  for (const auto* wrong :
       {"", "3", "/10", "3/", "0/10", "11/10", "-1/10", "3/10/1", "3 /10", "1/20000", "a/b"}) {
    EXPECT_THROW(parse_one_launch(wrong), Failure) << wrong;
  }
}

}  // namespace
}  // namespace ucxbench
