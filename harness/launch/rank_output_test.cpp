#include "harness/launch/rank_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace ucxbench {
namespace {

TEST(UcxWarning, IsALineOfItsLog) {
  EXPECT_EQ(ucx_warning("[1668000000.123456] [host:1:0]     ucp_context.c:1071 UCX  WARN  no eth7"),
            "WARN no eth7");
  EXPECT_EQ(ucx_warning("[1668000000.123456] [host:1:a]          sock.c:323  UCX  ERROR send(): x"),
            "ERROR send(): x");
  EXPECT_EQ(ucx_warning("[1668000000.123456] [host:1:0]          x.c:1   UCX  DEBUG quiet"),
            std::nullopt);
  EXPECT_EQ(ucx_warning("it says UCX  WARN  no eth7"), std::nullopt);
  EXPECT_EQ(ucx_warning(""), std::nullopt);
}

class PassedOn : public testing::Test {
 protected:
  PassedOn() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    output_ = RankOutput(Fd(ends[0]));
    rank_ = Fd(ends[1]);
  }

  void print(const std::string& text) const {
    ASSERT_EQ(::write(rank_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string passed(bool to_the_end = false) {
    testing::internal::CaptureStderr();
    const auto warn = [&](const std::string& line) { warnings_.push_back(line); };
    to_the_end ? output_.finish(warn) : output_.pass_on(warn);
    return testing::internal::GetCapturedStderr();
  }

  RankOutput output_{Fd()};
  Fd rank_;
  std::vector<std::string> warnings_;
};

TEST_F(PassedOn, AreWholeLines) {
  print("one\ntw");
  EXPECT_EQ(passed(), "one\n");
  EXPECT_EQ(passed(), "");
  print("o\nthree");
  EXPECT_EQ(passed(), "two\n");
  EXPECT_EQ(passed(true), "three\n");
  EXPECT_EQ(passed(true), "");
  EXPECT_FALSE(output_.ended());
  rank_.reset();
  EXPECT_EQ(passed(), "");
  EXPECT_TRUE(output_.ended());
}

TEST_F(PassedOn, AreHeard) {
  print("[1.2] [host:1:0] a.c:1 UCX  WA");
  passed();
  print("RN  one\nother\n[1.2] [host:1:0] b.c:2 UCX  ERROR two");
  passed();
  EXPECT_EQ(warnings_, std::vector<std::string>{"WARN one"});
  passed(true);
  EXPECT_EQ(warnings_, (std::vector<std::string>{"WARN one", "ERROR two"}));
}

TEST_F(PassedOn, EndsALineThatHasNoEnd) {
  const std::string piece(4000, 'x');  // as much as a pipe of one page takes at once
  std::string line;
  for (int i = 0; i < 16; ++i) {
    print(piece);
    line += piece;
    EXPECT_EQ(passed(), "");
  }
  print(piece);
  EXPECT_EQ(passed(), line + piece);
}

}  // namespace
}  // namespace ucxbench
