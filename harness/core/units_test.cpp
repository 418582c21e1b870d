#include "harness/core/units.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"

namespace ucxbench {
namespace {

using Sizes = std::vector<std::uint64_t>;

TEST(Size, BinaryAndDecimalUnits) {
  EXPECT_EQ(parse_size("8"), 8U);
  EXPECT_EQ(parse_size("64KiB"), 65536U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("1.5MiB"), 1572864U);
  EXPECT_EQ(parse_size("10 MB"), 10'000'000U);
  EXPECT_EQ(parse_size("5G"), 5368709120U);
  EXPECT_EQ(parse_size("1TiB"), 1099511627776U);
  EXPECT_EQ(parse_size("64kib"), 65536U);
  EXPECT_EQ(parse_size("8kb"), 8000U);
}

TEST(Size, RefusesInOneLineWithWhatWouldBeRight) {
  for (const char* wrong : {"", "12QB", "KiB", "-8", "nan", "inf", "1e400", "8 8", "9999999TiB",
                            "0", "0.5", "0x10", "1kibs"}) {
    const auto line = refusal_by([&] { parse_size(wrong); });
    EXPECT_NE(line.find(wrong), std::string::npos) << line;
    EXPECT_NE(line.find("expected"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(Sizes, ListsAndRanges) {
  EXPECT_EQ(parse_sizes("8,1KiB"), (Sizes{8, 1024}));
  EXPECT_EQ(parse_sizes("8:64"), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(parse_sizes("8:100:x2"), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(parse_sizes("1:1000:x10"), (Sizes{1, 10, 100, 1000}));
  EXPECT_EQ(parse_sizes("0:256:+64"), (Sizes{64, 128, 192, 256}));
  EXPECT_EQ(parse_sizes("8,4:16,8"), (Sizes{8, 4, 16}));
  EXPECT_EQ(parse_sizes("8:64MiB:x2").size(), 24U);
  EXPECT_EQ(parse_sizes("1:4:x1.1"), (Sizes{1, 2, 3, 4}));
}

TEST(Sizes, RefusesReversedAndEndlessRanges) {
  for (const char* wrong : {"64:8", "8:64:x1", "8:64:x0.5", "8:64:2", "8:64:x2:x2", "8:", ":8",
                            "0:64", "1:1GiB:+1", "8,,16", "8:64:+0"}) {
    EXPECT_NE(refusal_by([&] { parse_sizes(wrong); }), "accepted") << wrong;
  }
  EXPECT_NE(refusal_by([] { parse_sizes("64:8"); }).find("8:64"), std::string::npos);
}

TEST(Size, NamesTheLargestExactUnit) {
  EXPECT_EQ(exact_size(1048576), "1MiB");
  EXPECT_EQ(exact_size(1000), "1000B");
  EXPECT_EQ(exact_size(1536), "1536B");
  EXPECT_EQ(exact_size(3U << 20U), "3MiB");
  EXPECT_EQ(spaced_size(8), "8 B");
}

TEST(Size, RoughlyAndNeverMore) {
  const std::uint64_t KiB = 1024;
  EXPECT_EQ(rough_size(0), "0 B");
  EXPECT_EQ(rough_size(1023), "1023 B");
  EXPECT_EQ(rough_size(512 * KiB + 7), "512 KiB");
  EXPECT_EQ(rough_size(1434 * KiB), "1.4 MiB");
  EXPECT_EQ(rough_size(2048 * KiB), "2 MiB");
  EXPECT_EQ(rough_size((KiB << 30U) - 1), "1023 GiB");
  EXPECT_EQ(rough_size(~std::uint64_t{0}), "16777215 TiB");
}

TEST(Duration, UnitsAndRefusals) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("1.5"), 1500ms);
  EXPECT_EQ(parse_duration("100us"), 100us);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("10min"), 10min);
  EXPECT_EQ(format_duration(100us), "100us");
  EXPECT_EQ(parse_duration(format_duration(1234567us)), 1234567us);
  for (const char* wrong : {"", "0", "-1s", "10 parsecs", "nan", "10000h"}) {
    EXPECT_NE(refusal_by([&] { parse_duration(wrong); }), "accepted") << wrong;
  }
}

TEST(List, RangesBothWays) {
  EXPECT_EQ(parse_list("0-3,7"), (std::vector{0, 1, 2, 3, 7}));
  EXPECT_EQ(format_list({0, 1, 2, 3, 7}), "0-3,7");
  EXPECT_EQ(format_list({}), "");
  for (const char* wrong : {"", "a", "3-1", "1,,2", "-1", "1-", "99999"}) {
    EXPECT_NE(refusal_by([&] { parse_list(wrong); }), "accepted") << wrong;
  }
}

}  // namespace
}  // namespace ucxbench
