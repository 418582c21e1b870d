#include "harness/launch/causes.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Causes, AreTheFirstWhereNoneIsARoot) {
  Causes causes;
  causes.add("told a failure", Exit::lost);
  causes.add("exited with status 1", Exit::lost);
  EXPECT_EQ(causes.reasons(), "told a failure");
  EXPECT_EQ(causes.exit(), Exit::lost);
}

TEST(Causes, AreAllRootsAlone) {
  Causes causes;
  causes.add("cannot reach rank 0", Exit::cannot_run);
  causes.add("killed", Exit::lost, true);
  causes.add("stopped", Exit::lost, true);
  EXPECT_EQ(causes.reasons(), "killed; stopped");
  EXPECT_EQ(causes.exit(), Exit::lost);
}

// Rank 0 aborts, and its shared memory is gone before its death is known.
TEST(Causes, OfARankThatCannotRunAreNotSureBesideALostOne) {
  Causes causes;
  causes.add("cannot reach rank 0", Exit::cannot_run);
  EXPECT_EQ(causes.exit(), Exit::cannot_run);
  causes.add("aborted", Exit::lost);
  causes.add("aborted, too", Exit::lost);
  EXPECT_EQ(causes.reasons(), "cannot reach rank 0; aborted");
  EXPECT_EQ(causes.exit(), Exit::lost);
}

}  // namespace
}  // namespace ucxbench
