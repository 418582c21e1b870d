#include "harness/launch/agreement.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/launch/token.hpp"

namespace ucxbench {
namespace {

TEST(KeyAgreement, GivesATokenToOneSideAlone) {
  const KeyAgreement first, second, third;
  const auto token = fresh_token();
  const auto sent = first.veiled(token, second.announced());
  EXPECT_NE(sent, token);
  EXPECT_EQ(second.veiled(sent, first.announced()), token);
  // Who has all that was sent, and a key of its own.
  EXPECT_NE(third.veiled(sent, first.announced()), token);
  EXPECT_NE(third.veiled(sent, second.announced()), token);
  EXPECT_NE(first.announced(), second.announced());
}

TEST(KeyAgreement, RefusesWhatNobodyAnnounces) {
  const KeyAgreement own;
  const auto token = fresh_token();
  // The last is of a side that wants the secret to be 0.
  for (const auto& other : {std::string(), std::string("00"), std::string(64, 'x'),
                            std::string(63, '1') + " ", std::string(64, '0')}) {
    EXPECT_THROW(own.veiled(token, other), Failure) << other;
  }
  EXPECT_THROW(own.veiled("a-token-of-the-user", own.announced()), Failure);
}

}  // namespace
}  // namespace ucxbench
