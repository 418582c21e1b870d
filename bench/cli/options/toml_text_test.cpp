#include "bench/cli/options/toml_text.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"

namespace ucxbench {
namespace {

std::string refusal(const std::string& text) {
  return refusal_by([&] { check_toml_text(text, "x.toml"); });
}

// With these toml++ 3.3 aborted, or did what nobody has defined.
TEST(TomlText, RefusesBracketsWithoutAName) {
  for (const auto* header : {"[*]", "[[*]]", "[\x01]", "[=]", "[#]", "[\n]", "[ \xc2\xa9]",
                             "\xef\xbb\xbf[*]", "a = '''\n'''\n\t[[ .a]]"}) {
    EXPECT_NE(refusal(header).find("expected a table's name behind the bracket"), std::string::npos)
        << header;
  }
}

TEST(TomlText, RefusesOtherLettersOutsideOfQuotes) {
  const std::string end =
      ": not TOML: only ASCII is read outside of comments and of strings of "
      "one line";
  EXPECT_EQ(refusal("\xef\xba\xbfnches = 12"), "x.toml:1" + end);
  EXPECT_EQ(refusal("\n# \xc3\xa9\na = 1 \xc2\xa0"), "x.toml:3" + end);
  EXPECT_EQ(refusal("a = 'b\\' \xc3\xa9'"), "x.toml:1" + end) << "no escapes in such quotes";
  EXPECT_EQ(refusal("a = \"\"\xc3\xa9"), "x.toml:1" + end);
  EXPECT_EQ(refusal("a = \"b\n\xc3\xa9\""), "x.toml:2" + end);
  EXPECT_EQ(refusal("a = \"\"\"\n\\\n \xc3\xa9\"\"\""), "x.toml:3" + end);
  EXPECT_EQ(refusal("a = '''''''\xc3\xa9"), "x.toml:1" + end);
}

TEST(TomlText, LeavesThemInQuotesAndComments) {
  for (const auto* text :
       {"",
        "\xef\xbb\xbf"
        "a = 1",
        "# '\xc3\xa9\na = 1", "a = \"\xc3\xa9 \\\" \xc3\xa9\" # \xc3\xa9",
        "a = '# \xc3\xa9' # \"\"\"\nb = '\xc3\xa9'", "'\xc3\xa9' = \"\" # '",
        "a = \"\"\"\n[*]\n\\\"\"\"\"\" # \xc3\xa9", "a = '''it''s''''' # \xc3\xa9"}) {
    EXPECT_EQ(refusal(text), "accepted") << text;
  }
}

TEST(TomlText, RefusesKeysOfManyParts) {
  std::string key = "a";
  for (int part = 1; part < 16; ++part) key += ".a";
  EXPECT_EQ(refusal("[" + key + "]\n" + key + " = 1\n" + key + " = 1.5, 2.5"), "accepted");
  EXPECT_EQ(refusal("\n[[" + key + ".a]]"), "x.toml:2: not TOML: a key of more than 16 parts");
}

}  // namespace
}  // namespace ucxbench
