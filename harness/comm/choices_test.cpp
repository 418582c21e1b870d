#include "harness/comm/choices.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

TEST(ProgressMode, ParsesAndNames) {
  for (const char* name : {"auto", "poll", "event", "thread", "periodic:100us", "periodic:1.5ms"}) {
    EXPECT_EQ(ProgressMode::parse(name).name(), name);
  }
  for (const char* wrong : {"", "polling", "periodic", "periodic:", "periodic:0"}) {
    EXPECT_THROW(ProgressMode::parse(wrong), Failure) << wrong;
  }
}

TEST(ProgressMode, AutoPollsWhereEachRankHasAProcessor) {
  const auto automatic = ProgressMode::parse("auto");
  EXPECT_EQ(automatic.in(1, 1).name(), "poll");
  EXPECT_EQ(automatic.in(4, 4).name(), "poll");
  EXPECT_EQ(automatic.in(5, 4).name(), "event");
  EXPECT_EQ(automatic.in(64, 2).name(), "event");
  EXPECT_EQ(usual_progress(CommKind::ucx, automatic, 64, 2).name(), "event");
  EXPECT_EQ(usual_progress(CommKind::mpi, automatic, 64, 2).name(), "poll");
  for (const char* given : {"poll", "event", "thread", "periodic:100us"}) {
    EXPECT_EQ(ProgressMode::parse(given).in(64, 2).name(), given);
    EXPECT_EQ(ProgressMode::parse(given).in(2, 64).name(), given);
  }
}

TEST(Api, ParsesAndNames) {
  for (const char* name : {"tag", "stream", "am", "put", "get", "fadd", "swap", "cswap"}) {
    EXPECT_EQ(to_string(parse_api(name)), name);
  }
  // A name for three of them on the command line alone.
  EXPECT_THROW(parse_api("atomic"), Failure);
}

TEST(Api, OneSidedAreThoseThatActOnThePeersMemory) {
  for (const auto api : {Api::tag, Api::stream, Api::am}) EXPECT_FALSE(is_one_sided(api));
  for (const auto api : {Api::put, Api::get, Api::fadd, Api::swap, Api::cswap}) {
    EXPECT_TRUE(is_one_sided(api));
    EXPECT_EQ(is_atomic(api), api != Api::put && api != Api::get);
  }
}

}  // namespace
}  // namespace ucxbench
