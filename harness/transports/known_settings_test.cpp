#include "harness/transports/known_settings.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace ucxbench {
namespace {

TEST(KnownSettings, AreThoseOfUcxWithTheirValues) {
  ::setenv("UCX_TCP_TX_SEG_SIZE", "9k", 1);
  const auto known = known_ucx_settings();
  ASSERT_TRUE(known.contains("UCX_TLS"));
  EXPECT_EQ(known.at("UCX_TCP_TX_SEG_SIZE"), "9K");
  EXPECT_TRUE(known.contains("UCX_MODULE_DIR"));
  EXPECT_TRUE(known.contains("UCX_CONFIG_DIR"));
  EXPECT_EQ(known.at("UCX_ALLOC"), "");  // of several transports, which have one each
  EXPECT_FALSE(known.contains("UCX_RNDV_THRES"));
  ::unsetenv("UCX_TCP_TX_SEG_SIZE");
}

TEST(KnownSettings, AreNotFewerForAValueThatUcxCannotRead) {
  const auto known = known_ucx_settings();
  ::setenv("UCX_RNDV_THRESH", "soon", 1);
  const auto with_wrong_one = known_ucx_settings();
  EXPECT_STREQ(::getenv("UCX_RNDV_THRESH"), "soon");
  ::unsetenv("UCX_RNDV_THRESH");
  EXPECT_EQ(with_wrong_one.size(), known.size());
  EXPECT_EQ(with_wrong_one.at("UCX_RNDV_THRESH"), "");
}

TEST(KnownSettings, AreReadableOrNot) {
  ::setenv("UCX_ZCOPY_THRESH", "later", 1);
  const auto found = unreadable_settings({{"UCX_RNDV_THRESH", "soon"},
                                          {"UCX_RNDV_THRESH", "64k"},
                                          {"UCX_TLS", "tcp"},
                                          {"UCX_TCP_TX_SEG_SIZE", "much"},
                                          {"UCX_COFFEE_MACHINE", "on"}},
                                         "1.13.1");
  EXPECT_STREQ(::getenv("UCX_ZCOPY_THRESH"), "later");
  ::unsetenv("UCX_ZCOPY_THRESH");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name + "=" + found[0].value, "UCX_RNDV_THRESH=soon");
  EXPECT_TRUE(found[0].why.starts_with(
      "UCX 1.13.1 cannot read this value: Invalid value for RNDV_THRESH: 'soon'. Expected: "))
      << found[0].why;
  EXPECT_EQ(found[1].name, "UCX_TCP_TX_SEG_SIZE");
}

TEST(KnownSettings, AMisspeltOneIsToldWithTheNearest) {
  const Variables known = {{"UCX_RNDV_THRESH", "auto"}, {"UCX_TLS", "all"}};
  EXPECT_EQ(why_unknown_setting("UCX_TLS", known, "1.13.1"), "");
  EXPECT_EQ(why_unknown_setting("UCX_RNDV_THRES", known, "1.13.1"),
            "UCX 1.13.1 has no such variable: did you mean 'UCX_RNDV_THRESH'?");
  EXPECT_EQ(why_unknown_setting("UCX_COFFEE_MACHINE", known, "1.13.1"),
            "UCX 1.13.1 has no such variable here (ucx_info -f lists them)");
  EXPECT_EQ(why_unknown_setting("UCX_RNDV_THRES", {}, "1.13.1"), "");
}

}  // namespace
}  // namespace ucxbench
