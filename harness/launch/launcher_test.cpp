#include "harness/launch/launcher.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace ucxbench {
namespace {

TEST(Launcher, IsReachedByTheAddressOfItsDaemon) {
  EXPECT_EQ(address_in_uri("1827995648.0;tcp://10.0.0.1:57995"), "10.0.0.1");
  EXPECT_EQ(address_in_uri("1827995648.0;tcp://10.0.0.1,10.1.0.1:57995"), "10.0.0.1");
  for (const auto* other : {"", "tcp://", "tcp://:1", "tcp://node7:1", "tcp://10.0.0.1",
                            "udp://10.0.0.1:1", "tcp6://[::1]:1"}) {
    EXPECT_EQ(address_in_uri(other), "") << other;
  }
}

TEST(Launcher, IsNoneOfAProcessThatIsAlone) {
  for (const auto* name : {"PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE"}) {
    ::unsetenv(name);
  }
  EXPECT_EQ(find_launcher(), nullptr);
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("PMIX_NAMESPACE", "1", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  EXPECT_EQ(find_launcher(), nullptr);
}

}  // namespace
}  // namespace ucxbench
