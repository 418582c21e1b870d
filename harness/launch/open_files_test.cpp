#include "harness/launch/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

class OpenFiles : public testing::Test {
 protected:
  OpenFiles() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFiles() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  rlimit before_{};
};

TEST_F(OpenFiles, AreAllowedAsFarAsTheyMay) {
  rlimit limit{.rlim_cur = 40, .rlim_max = before_.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  allow_open_files(2, 1);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(limit.rlim_cur, before_.rlim_max);
}

TEST_F(OpenFiles, TooFewAreRefusedByTheNumberNeeded) {
  if (before_.rlim_max == RLIM_INFINITY) GTEST_SKIP() << "no hard limit";
  rlimit limit{.rlim_cur = 40, .rlim_max = before_.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto ranks = static_cast<int>(before_.rlim_max);
  try {
    allow_open_files(ranks, 1);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
    const auto needed = std::to_string(open_files_needed(ranks, 1));
    EXPECT_NE(std::string(failure.what()).find(needed + " open files"), std::string::npos);
  }
}

}  // namespace
}  // namespace ucxbench
