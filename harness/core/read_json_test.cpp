#include "harness/core/read_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace ucxbench {
namespace {

std::string flaw_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    read_json(text, limits);
  } catch (const BadJson& bad) {
    EXPECT_TRUE(json_or_null(text).is_null() || limits.members < 4096 || limits.values < 100);
    return bad.what();
  }
  return "";
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(ReadJson, KeepsTheOrderOfMembers) {
  const std::string text = R"({"b":[1,-2,0.5,{"z":null,"a":true}],"a":"x","":{}})";
  EXPECT_EQ(read_json(text).dump(), text);
  EXPECT_EQ(json_or_null(text), read_json(text));
  EXPECT_EQ(read_json("7"), 7);
}

TEST(ReadJson, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(flaw_of(R"({"p50":1,"p50":2})"), "the key 'p50' stands twice in one object");
  EXPECT_EQ(flaw_of(R"([{"a":{"b":[],"c":{"d":1},"b":3}}])"),
            "the key 'b' stands twice in one object");
  EXPECT_EQ(flaw_of(R"({"\u0061":1,"a":2})"), "the key 'a' stands twice in one object");
  EXPECT_EQ(flaw_of(R"({"a":{"a":1},"b":{"a":1}})"), "");
}

TEST(ReadJson, IsBounded) {
  EXPECT_EQ(flaw_of(nested(most_json_levels)), "");
  EXPECT_EQ(flaw_of(nested(most_json_levels + 1)), "JSON of more than 100 levels");
  EXPECT_EQ(flaw_of("[1,2,3]", {.values = 4}), "");
  EXPECT_EQ(flaw_of("[1,2,3]", {.values = 3}), "it has more than 3 values");
  EXPECT_EQ(flaw_of(R"({"a":1,"b":2})", {.members = 2}), "");
  EXPECT_EQ(flaw_of(R"({"a":1,"b":2})", {.members = 1}), "an object in it has more than 1 members");
}

// Where each member was held against all before it, this took time by its square.
TEST(ReadJson, TakesTimeByTheSizeOfTheText) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("\"{}\":0,", i);
  text.back() = '}';
  EXPECT_EQ(read_json(text, {.members = JsonLimits().values}).size(), 200'000U);
}

TEST(ReadJson, SaysWhereItBreaks) {
  EXPECT_EQ(flaw_of("{\"a\":"), "it ends or breaks at byte 6");
  EXPECT_EQ(flaw_of("[1e999]"), "a number in it is too large for any");
  EXPECT_EQ(flaw_of("[NaN]"), "it ends or breaks at byte 2");
  EXPECT_EQ(flaw_of("[1] 2"), "it ends or breaks at byte 5");
  EXPECT_EQ(flaw_of("[\"\xff\"]"), "it ends or breaks at byte 3");
  EXPECT_EQ(flaw_of(""), "it ends or breaks at byte 1");
}

}  // namespace
}  // namespace ucxbench
