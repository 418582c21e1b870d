#include "harness/core/failure.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Exit, WorseFollowsTheDocumentedPrecedence) {
  EXPECT_EQ(worse(Exit::done, Exit::cannot_run), Exit::cannot_run);
  EXPECT_EQ(worse(Exit::cannot_run, Exit::inconclusive), Exit::inconclusive);
  EXPECT_EQ(worse(Exit::gate, Exit::inconclusive), Exit::gate);
  EXPECT_EQ(worse(Exit::lost, Exit::gate), Exit::lost);
  EXPECT_EQ(worse(Exit::lost, Exit::wrong_data), Exit::wrong_data);
  EXPECT_EQ(worse(Exit::interrupted, Exit::wrong_data), Exit::interrupted);
  EXPECT_EQ(worse(Exit::done, Exit::done), Exit::done);
}

TEST(Exit, OfAnotherProcessIsOneThatThereIs) {
  EXPECT_EQ(exit_of(0), Exit::done);
  EXPECT_EQ(exit_of(130), Exit::interrupted);
  for (const int none : {-1, 7, 256, 131}) EXPECT_EQ(exit_of(none), Exit::lost);
}

TEST(OneLine, IsShortAndHasNoControlCharacters) {
  EXPECT_EQ(in_one_line("key 'a\n\x1b[2J\x7f\xc3\xa9'"), "key 'a \\x1b[2J\\x7f\xc3\xa9'");
  const std::string most(300, 'x');
  EXPECT_EQ(in_one_line(most), most);
  EXPECT_EQ(in_one_line(most + "y"), most + " …");
  EXPECT_EQ(in_one_line(std::string(299, 'x') + "\xc3\xa9"), std::string(299, 'x') + " …");
}

}  // namespace
}  // namespace ucxbench
