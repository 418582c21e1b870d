#include "harness/run/hosts.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(HostNames, TellHostsOfOneNameApart) {
  HostNames names("localhost", "here");
  EXPECT_EQ(names.told_apart("localhost", "there"), "localhost (2)");
  EXPECT_EQ(names.told_apart("localhost", "here"), "localhost");
  EXPECT_EQ(names.told_apart("localhost", "elsewhere"), "localhost (3)");
  EXPECT_EQ(names.told_apart("localhost", "there"), "localhost (2)");
  EXPECT_EQ(names.told_apart("node07", "there"), "node07");
}

TEST(HostNames, AreOfOneBoot) { EXPECT_EQ(boot_id(), boot_id()); }

}  // namespace
}  // namespace ucxbench
