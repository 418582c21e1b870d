#include "harness/transports/tunables.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

bool tries(const std::vector<Variables>& candidates, const std::string& name,
           const std::string& value) {
  return std::ranges::any_of(candidates, [&](const Variables& settings) {
    return settings.contains(name) && settings.at(name) == value;
  });
}

TEST(Tunables, HaveAValueForEachOfTheirSettings) {
  for (const auto& tunable : tunables()) {
    const auto names = split_text(tunable.settings, ',').size();
    for (const auto value : split_text(tunable.values, ' ')) {
      EXPECT_EQ(split_text(value, ',').size(), names) << tunable.settings;
    }
  }
}

TEST(TuningCandidates, AreOfTheVersionAndTheTransports) {
  const auto old_tcp = tuning_candidates("1.13.1", {"tcp"});
  EXPECT_TRUE(tries(old_tcp, "UCX_RNDV_SCHEME", "put_zcopy"));
  EXPECT_TRUE(tries(old_tcp, "UCX_TCP_RX_SEG_SIZE", "128k"));
  EXPECT_TRUE(tries(old_tcp, "UCX_PROTO_ENABLE", "y"));
  EXPECT_FALSE(tries(old_tcp, "UCX_PROTO_ENABLE", "n"));
  EXPECT_FALSE(tries(old_tcp, "UCX_TCP_MAX_BW", "auto"));
  EXPECT_FALSE(tries(old_tcp, "UCX_POSIX_SEG_SIZE", "32k"));
  const auto new_shm = tuning_candidates("1.22.0", {"shm"});
  EXPECT_TRUE(tries(new_shm, "UCX_SYSV_SEG_SIZE", "32k"));
  EXPECT_TRUE(tries(new_shm, "UCX_PROTO_ENABLE", "n"));
  EXPECT_FALSE(tries(new_shm, "UCX_TCP_RX_SEG_SIZE", "128k"));
  const auto any = tuning_candidates("1.22.0", {"auto"});
  EXPECT_GT(any.size(), new_shm.size());
  // Both of a pair are set together.
  const auto pair = std::ranges::find_if(
      new_shm, [](const Variables& settings) { return settings.contains("UCX_SYSV_SEG_SIZE"); });
  ASSERT_NE(pair, new_shm.end());
  EXPECT_EQ(pair->at("UCX_POSIX_SEG_SIZE"), "32k");
}

}  // namespace
}  // namespace ucxbench
