#include "harness/comm/worker.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

TEST(ProgressMode, ParsesAndNames) {
  for (const char* name : {"poll", "event", "thread", "periodic:100us", "periodic:1.5ms"}) {
    EXPECT_EQ(ProgressMode::parse(name).name(), name);
  }
  for (const char* wrong : {"", "polling", "periodic", "periodic:", "periodic:0"}) {
    EXPECT_THROW(ProgressMode::parse(wrong), Failure) << wrong;
  }
}

TEST(Api, KnowsTwo) {
  EXPECT_EQ(parse_api("tag"), Api::tag);
  EXPECT_EQ(to_string(parse_api("stream")), "stream");
  EXPECT_THROW(parse_api("am"), Failure);
}

}  // namespace
}  // namespace ucxbench
