#include "harness/launch/oom_kills.hpp"

#include <gtest/gtest.h>

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

class OomKillsOf : public FolderLikeSys {};

TEST_F(OomKillsOf, Version2) {
  write("proc/self/cgroup", "0::/job/7\n");
  EXPECT_FALSE(oom_kills(root_));
  write("sys/fs/cgroup/job/7/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\n");
  const auto found = oom_kills(root_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 3U);
  EXPECT_EQ(found->cgroup, "/job/7");
}

TEST_F(OomKillsOf, Version1) {
  write("proc/self/cgroup", "9:pids:/\n4:memory:/job/7\n0::/\n");
  write("sys/fs/cgroup/memory/job/7/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  const auto found = oom_kills(root_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1U);
}

TEST_F(OomKillsOf, Nobody) { EXPECT_FALSE(oom_kills(root_)); }

}  // namespace
}  // namespace ucxbench
