#include "harness/report/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ucxbench {
namespace {

TEST(ReportText, KeepsSignificantDigits) {
  EXPECT_EQ(significant(12.3456, 4), "12.35");
  EXPECT_EQ(significant(0.0123456, 3), "0.0123");
  EXPECT_EQ(significant(123456.7, 3), "123457");
  EXPECT_EQ(significant(0, 3), "0");
  EXPECT_EQ(significant(std::nullopt, 3), "-");
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity(), 3), "-");
  EXPECT_EQ(prefixed(1234567, 3), "1.23M");
  EXPECT_EQ(prefixed(999, 3), "999");
  EXPECT_EQ(prefixed(std::nullopt, 3), "-");
}

TEST(ReportText, ChoosesTheUnitOfTime) {
  EXPECT_EQ(readable_us(0.0072), "7.20 ns");
  EXPECT_EQ(readable_us(45.25), "45.2 us");
  EXPECT_EQ(readable_us(12345), "12.3 ms");
  EXPECT_EQ(readable_us(2.5e6), "2.50 s");
}

TEST(ReportText, ReadsWhateverIsThere) {
  const Json json = {{"list", {"a", 2}}, {"null", nullptr}, {"text", "two\nlines"}, {"yes", true}};
  EXPECT_EQ(text_at(json, "/list"), "a+2");
  EXPECT_EQ(text_at(json, "/null"), "-");
  EXPECT_EQ(text_at(json, "/list/0/deep"), "-");
  EXPECT_EQ(text_at(json, "/text"), "two lines");
  EXPECT_EQ(text_at(json, "/yes"), "yes");
  EXPECT_EQ(text_at(Json(3), "/none", "?"), "?");
}

TEST(ReportText, NamesAnInterval) {
  const Json json = {{"ci95", {1.2, 1.3125}}, {"half", {nullptr, 2}}, {"one", {1}}, {"text", "x"}};
  EXPECT_EQ(interval_text(json, "ci95"), "1.20..1.31");
  EXPECT_EQ(interval_text(json, "half"), "-..2.00");
  for (const auto* name : {"one", "text", "none"}) EXPECT_EQ(interval_text(json, name), "-");
}

TEST(ReportText, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", "  ", 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("unbreakable", "  ", 5), "  unbreakable\n");
}

TEST(ReportText, AlignsColumnsUnderTheirGroups) {
  const auto text = aligned({.columns = {{"", "size"}, {"us", "p50"}, {"us", "max"}},
                             .rows = {{"8 B", "1.5", "2"}, {"1 KiB", "-", "12345"}}});
  EXPECT_EQ(text.header, (std::vector<std::string>{"             us", "   size  p50    max"}));
  EXPECT_EQ(text.rows, (std::vector<std::string>{"    8 B  1.5      2", "  1 KiB    -  12345"}));
}

TEST(Fitted, GoesOnInFurtherTablesWithTheAxes) {
  const Grid grid{.columns = {{"", "size"}, {"a, us", "p50"}, {"a, us", "p99"}, {"b, us", "p50"}},
                  .rows = {{"8 B", "1.0", "2.0", "3.0"}}};
  EXPECT_EQ(fitted(grid, 100).size(), 1U);
  EXPECT_EQ(fitted(grid, aligned(grid).rows[0].size()).size(), 1U);
  const auto parts = fitted(grid, aligned(grid).rows[0].size() - 1);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].rows[0], (std::vector<std::string>{"8 B", "1.0", "2.0"}));
  EXPECT_EQ(parts[1].rows[0], (std::vector<std::string>{"8 B", "3.0"}));
  EXPECT_EQ(fitted(grid, 3).size(), 2U);  // a group is not divided
  EXPECT_EQ(fitted({.columns = {{"", "size"}}, .rows = {{"8 B"}}}, 100).size(), 1U);
}

}  // namespace
}  // namespace ucxbench
