#include "harness/core/literal.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {
namespace {

const std::string escape = "\x1b]0;owned\a\x1b[2J";
const std::string c1 =
    "\xc2\x9b"
    "31m";
const std::string bare_c1 =
    "\x9b"
    "31m";
const std::string backwards =
    "\xe2\x80\xae"
    "gpj";
const std::string nasty = "a" + escape + c1 + bare_c1 + backwards + "\r\x7f\n\t'\"`$(x)|<b>";

using Writer = std::function<std::string(const std::string&)>;

const std::vector<std::pair<const char*, Writer>> writers = {
    {"terminal", for_terminal},
    {"line", on_one_line},
    {"markdown", for_markdown},
    {"csv", for_csv},
    {"xml", for_xml},
    {"label", for_label},
    {"shell", for_shell},
    {"yaml", for_yaml},
    {"json", [](const std::string& text) { return json_text(text); }}};

TEST(Literal, NoOutputHasWhatActsOnATerminal) {
  for (const auto& [name, literal] : writers) {
    const auto text = literal(nasty);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      EXPECT_TRUE(c == '\n' || c == '\t' || (byte >= ' ' && byte != 0x7f)) << name << ": " << text;
    }
    for (const auto* acting : {"\xc2\x9b", "\x9b", "\xe2\x80\xae"}) {
      EXPECT_EQ(text.find(acting), std::string::npos) << name << ": " << text;
    }
    EXPECT_EQ(for_terminal(text), text) << name;
  }
}

TEST(Literal, SpellsOutAndKeepsOtherLetters) {
  EXPECT_EQ(for_terminal("µ → é 漢 😀\r\n\tx"), "µ → é 漢 😀\r\n\tx");
  EXPECT_EQ(for_terminal(c1 + bare_c1 + backwards), "\\x9b31m\\x9b31m\\u202egpj");
  EXPECT_EQ(for_terminal("\xc3\x28\xf0\x9f\xed\xa0\x80"), "\\xc3(\\xf0\\x9f\\xed\\xa0\\x80");
  EXPECT_EQ(on_one_line("a\nb\tc\r\nd\x1b"), "a b c  d\\x1b");
  const std::string zero("a\0b", 3);
  EXPECT_EQ(for_terminal(zero), "a\\x00b");
}

TEST(Literal, MarkdownHasNoMarkupAndNoLink) {
  EXPECT_EQ(for_markdown("<img src=x>[a](b)|`c`**d**&lt;$e$"),
            "\\<img src=x>\\[a\\](b)\\|\\`c\\`\\*\\*d\\*\\*\\&lt;\\$e\\$");
  EXPECT_EQ(for_markdown("http://x and www.y\n# z"), "http\\://x and www\\.y \\# z");
  EXPECT_EQ(for_markdown("- item"), "\\- item");
  EXPECT_EQ(for_markdown("> said"), "\\> said");
  EXPECT_EQ(for_markdown("-1.2 %"), "-1.2 %");
  EXPECT_EQ(for_markdown("-"), "-");
}

TEST(Literal, CsvHasNoFormula) {
  for (const std::string text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1"}) {
    EXPECT_EQ(for_csv(text), "'" + text);
  }
  EXPECT_EQ(for_csv("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
  EXPECT_EQ(for_csv("a-b=c"), "a-b=c");
  EXPECT_EQ(for_csv(""), "");
}

TEST(Literal, OtherOutputsQuoteWhatTheyWouldRead) {
  EXPECT_EQ(for_xml("<a b=\"c\">&\xef\xbf\xbf"), "&lt;a b=&quot;c&quot;&gt;&amp;\\uffff");
  EXPECT_EQ(for_label("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
  EXPECT_EQ(for_shell("it's $(x)\n"), "'it'\\''s $(x) '");
  EXPECT_EQ(command_line({"ucx-bench", "report", "a;b.json", ""}),
            "ucx-bench report 'a;b.json' ''");
  EXPECT_EQ(for_yaml("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
}

TEST(Literal, JsonSaysTheSame) {
  const Json value = {{"a", escape + c1 + backwards + "µ\x7f"}};
  EXPECT_EQ(Json::parse(json_text(value)), value);
}

TEST(Literal, WhatIsPrintedIsLiteral) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&bytes, &size);
  print_to(file, "{}\n", nasty);
  std::fclose(file);
  EXPECT_EQ(std::string(bytes, size), for_terminal(nasty) + "\n");
  std::free(bytes);  // NOLINT(cppcoreguidelines-no-malloc): open_memstream's
}

}  // namespace
}  // namespace ucxbench
