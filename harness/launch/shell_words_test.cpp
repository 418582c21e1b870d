#include "harness/launch/shell_words.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitAsAShellDoes) {
  EXPECT_EQ(split_shell_words(""), Words{});
  EXPECT_EQ(split_shell_words("  numactl  -N 0\t"), (Words{"numactl", "-N", "0"}));
  EXPECT_EQ(split_shell_words(R"(sh -c '"$@"; true' sh)"),
            (Words{"sh", "-c", R"("$@"; true)", "sh"}));
  EXPECT_EQ(split_shell_words(R"(a\ b "c d"e '' "\"\x")"), (Words{"a b", "c de", "", R"("\x)"}));
  EXPECT_EQ(split_shell_words(R"('a\b' $HOME *)"), (Words{R"(a\b)", "$HOME", "*"}));
}

TEST(ShellWords, RefuseWhatIsNotClosed) {
  for (const auto* text : {"'a", "\"a", "a\\", "a 'b\"c"}) {
    EXPECT_THROW(split_shell_words(text), Failure) << text;
  }
}

TEST(ShellWords, WrapPutsTheRankInAndTheCommandLast) {
  EXPECT_EQ(wrap_command("ip netns exec host{rank} x{rank}{rank}", 3, {"me", "{rank}"}),
            (Words{"ip", "netns", "exec", "host3", "x33", "me", "{rank}"}));
  EXPECT_EQ(wrap_command("", 0, {"me"}), Words{"me"});
}

}  // namespace
}  // namespace ucxbench
