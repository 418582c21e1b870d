#include "harness/core/failure.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Exit, WorseFollowsTheDocumentedPrecedence) {
  EXPECT_EQ(worse(Exit::done, Exit::cannot_run), Exit::cannot_run);
  EXPECT_EQ(worse(Exit::cannot_run, Exit::inconclusive), Exit::inconclusive);
  EXPECT_EQ(worse(Exit::gate, Exit::inconclusive), Exit::gate);
  EXPECT_EQ(worse(Exit::lost, Exit::gate), Exit::lost);
  EXPECT_EQ(worse(Exit::lost, Exit::wrong_data), Exit::wrong_data);
  EXPECT_EQ(worse(Exit::interrupted, Exit::wrong_data), Exit::interrupted);
  EXPECT_EQ(worse(Exit::done, Exit::done), Exit::done);
}

}  // namespace
}  // namespace ucxbench
