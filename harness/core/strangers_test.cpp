#include "harness/core/strangers.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Strangers, OfOneSourceLeaveRoomForOthers) {
  std::vector<std::string> sources = {"far"};
  sources.insert(sources.end(), most_strangers_of_a_source + 2, "near");
  EXPECT_EQ(one_too_many(sources, 2), std::nullopt);
  sources.emplace_back("near");
  EXPECT_EQ(one_too_many(sources, 2), 1U);
  EXPECT_EQ(one_too_many({}, 0), std::nullopt);
}

TEST(Strangers, OfManySourcesAreLimited) {
  std::vector<std::string> sources = {"alone", "twice", "twice"};
  while (sources.size() < most_strangers) sources.push_back(std::to_string(sources.size()));
  EXPECT_EQ(one_too_many(sources, 0), std::nullopt);
  sources.emplace_back("another");
  EXPECT_EQ(one_too_many(sources, 1), std::nullopt);
  EXPECT_EQ(one_too_many(sources, 0), 1U);
}

}  // namespace
}  // namespace ucxbench
