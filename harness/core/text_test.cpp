#include "harness/core/text.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split_text("a, b ,c", ','), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(split_text("", ',').size(), 1U);
}

template <typename Text>
concept Splits = requires(Text&& text) {
  split_text(std::forward<Text>(text), ',');
  trim_text(std::forward<Text>(text));
};
static_assert(Splits<std::string&> && Splits<const std::string&> && Splits<std::string_view>);
static_assert(Splits<const char*>);
static_assert(!Splits<std::string> && !Splits<const std::string>, "its views would dangle");

TEST(Text, LowersLettersAndNothingElse) { EXPECT_EQ(lower_case("00:1F.0 KiB"), "00:1f.0 kib"); }

TEST(Text, SuggestsTheNearestNameOnlyWhenItIsNear) {
  const std::vector<std::string> known = {"nvlink", "tcp", "shm"};
  EXPECT_EQ(unknown_name("transport", "nvlnik", known),
            "unknown transport 'nvlnik': did you mean 'nvlink'? known: nvlink, tcp, shm");
  EXPECT_EQ(unknown_name("transport", "carrier-pigeon", known),
            "unknown transport 'carrier-pigeon': known: nvlink, tcp, shm");
  EXPECT_EQ(did_you_mean("htlm", {"help", "html"}), "did you mean 'html'?");
  EXPECT_EQ(did_you_mean("enable-tcp", known), "");
  EXPECT_EQ(did_you_mean("enable-tcp", {"tcp", "enable-tcp-over-ucx"}),
            "did you mean 'enable-tcp-over-ucx'?");
}

TEST(Text, NamesTheNearestAloneOfMany) {
  std::vector<std::string> known;
  for (int number = 0; number < 50; ++number) known.push_back("name-" + std::to_string(number));
  EXPECT_EQ(unknown_name("name", "nmae-17", known),
            "unknown name 'nmae-17': did you mean 'name-17'?");
  EXPECT_EQ(unknown_name("name", "carrier-pigeon", known), "unknown name 'carrier-pigeon'");
}

}  // namespace
}  // namespace ucxbench
