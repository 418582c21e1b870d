#include "harness/launch/launcher.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "harness/core/failure.hpp"
#include "harness/launch/slurm.hpp"

namespace ucxbench {
namespace {

/// Not started by any, whatever started the tests, and nothing for those that follow.
class Launcher : public testing::Test {
 protected:
  Launcher() { unset(); }
  ~Launcher() override { unset(); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

 private:
  static void unset() {
    for (const auto* name : {"PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                             "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_PROCID"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(Launcher, IsReachedByTheAddressOfItsDaemon) {
  EXPECT_EQ(address_in_uri("1827995648.0;tcp://10.0.0.1:57995"), "10.0.0.1");
  EXPECT_EQ(address_in_uri("1827995648.0;tcp://10.0.0.1,10.1.0.1:57995"), "10.0.0.1");
  for (const auto* other : {"", "tcp://", "tcp://:1", "tcp://node7:1", "tcp://10.0.0.1",
                            "udp://10.0.0.1:1", "tcp6://[::1]:1"}) {
    EXPECT_EQ(address_in_uri(other), "") << other;
  }
}

TEST_F(Launcher, KnowsSlurmsFirstNode) {
  EXPECT_EQ(first_node("node7"), "node7");
  EXPECT_EQ(first_node("node7,node9"), "node7");
  EXPECT_EQ(first_node("node[007-012,020],login1"), "node007");
  EXPECT_EQ(first_node("rack[2,4]-ib,x[1-2]"), "rack2-ib");
  EXPECT_EQ(first_node("rack[0-1]node[02-13]"), "rack0node02");
  EXPECT_EQ(first_node("r[1,3]c[2-4,7]n[05],r9c1n1"), "r1c2n05");
  EXPECT_EQ(first_node("node[0-8/2]"), "node0");
  EXPECT_EQ(first_node("gpu-a.example.org,gpu-b.example.org"), "gpu-a.example.org");
  for (const auto* none : {"", "node[", "node[1", "node[]", "node[a-b]", "(null)"})
    EXPECT_EQ(first_node(none), "") << none;
}

TEST_F(Launcher, IsSlurmWherePmixIsNot) {
  ::setenv("SLURM_STEP_NUM_TASKS", "3", 1);
  ::setenv("SLURM_STEP_NUM_NODES", "1", 1);
  ::setenv("SLURM_PROCID", "2", 1);
  const auto found = find_launcher();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->index(), 2);
  EXPECT_EQ(found->count(), 3);
}

// MPICH's.
TEST_F(Launcher, WithoutPmixIsRefusedRatherThanMeasuredManyTimes) {
  EXPECT_EQ(find_launcher(), nullptr);
  ::setenv("PMI_SIZE", "4", 1);
  EXPECT_THROW(find_launcher(), Failure);
}

}  // namespace
}  // namespace ucxbench
