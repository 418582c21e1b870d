#include "bench/cli/commands/bisect.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ucxbench {
namespace {

TEST(Bisect, FindsEachPlaceInFewSteps) {
  for (std::size_t last = 1; last <= 17; ++last) {
    for (std::size_t planted = 1; planted <= last; ++planted) {
      int asked = 0;
      const auto found = bisect(last, [&](std::size_t at) {
        EXPECT_TRUE(at > 0 && at < last);
        ++asked;
        return at >= planted ? HasIt::yes : HasIt::no;
      });
      EXPECT_EQ(found.with, planted) << last;
      EXPECT_EQ(found.without, planted - 1) << last;
      EXPECT_LE(asked, 5);
    }
  }
}

TEST(Bisect, LeavesTheRangeOfWhichNobodyKnows) {
  for (std::size_t unknown = 1; unknown < 8; ++unknown) {
    for (std::size_t planted = 1; planted <= 8; ++planted) {
      const auto found = bisect(8, [&](std::size_t at) {
        if (at == unknown) return HasIt::unknown;
        return at >= planted ? HasIt::yes : HasIt::no;
      });
      // Beside the unknown one both remain possible.
      const bool beside = planted == unknown || planted == unknown + 1;
      EXPECT_EQ(found.without, beside ? unknown - 1 : planted - 1) << unknown << " " << planted;
      EXPECT_EQ(found.with, beside ? unknown + 1 : planted) << unknown << " " << planted;
    }
  }
  const auto nothing = bisect(5, [](std::size_t) { return HasIt::unknown; });
  EXPECT_EQ(nothing.without, 0U);
  EXPECT_EQ(nothing.with, 5U);
}

Json versions_of(const Json& rows) {
  Json all = {{"versions", Json::array()}, {"rows", rows}};
  for (const auto* name : {"first", "middle", "last"}) {
    all["versions"].push_back({{"name", name}, {"problem", nullptr}, {"failed", Json::object()}});
  }
  return all;
}

Json row(const char* metric, const Json& middle, const Json& last) {
  return {{"key", "case"},
          {"metric", metric},
          {"pair", nullptr},
          {"cells", {{"middle", middle}, {"last", last}}}};
}

Json cell(const char* verdict, double ratio, const char* why = "") {
  return {{"verdict", verdict}, {"ratio", ratio}, {"why", why}};
}

// Both are slower in both versions: a time has a ratio above 1, a rate one below.
TEST(Bisect, FollowsOneMetric) {
  auto rows = Json::array();
  rows.push_back(row("latency_us", cell("regressed", 4), cell("regressed", 4.2)));
  rows.push_back(row("bandwidth_GBps", cell("regressed", 0.1), cell("regressed", 0.25)));
  const auto versions = versions_of(rows);
  const auto followed = most_changed(versions, "last");
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->row, 0U);
  EXPECT_EQ(name_of_row(versions, *followed), "latency_us");
  EXPECT_EQ(has_change(versions, *followed, "middle"), HasIt::yes);
  rows[0]["cells"]["middle"] = cell("regressed", 1.1);
  EXPECT_EQ(has_change(versions_of(rows), *followed, "middle"), HasIt::no);
  rows[0]["cells"]["middle"] = cell("unchanged", 1);
  EXPECT_EQ(has_change(versions_of(rows), *followed, "middle"), HasIt::no);
  // A rate that falls, alone.
  rows.erase(std::size_t{0});
  EXPECT_LT(most_changed(versions_of(rows), "last")->change, 0);
  EXPECT_EQ(has_change(versions_of(rows), *most_changed(versions_of(rows), "last"), "middle"),
            HasIt::yes);
}

TEST(Bisect, KnowsNothingOfWhatHasNoVerdict) {
  auto rows = Json::array();
  rows.push_back(
      row("latency_us", cell("inconclusive", 4, "too few launches"), cell("regressed", 4)));
  const auto versions = versions_of(rows);
  const Followed followed{.row = 0, .change = std::log(4)};
  EXPECT_EQ(has_change(versions, followed, "middle"), HasIt::unknown);
  EXPECT_EQ(why_undecided(versions, "case", "middle"),
            "latency_us is inconclusive: too few launches");
  EXPECT_EQ(why_undecided(versions, "case", "last"), "");
  rows[0]["cells"].erase("middle");
  auto without = versions_of(rows);
  EXPECT_EQ(has_change(without, followed, "middle"), HasIt::unknown);
  EXPECT_EQ(why_undecided(without, "case", "middle"), "it was not measured");
  without["versions"][1]["failed"]["case"] = "rank 1 was killed";
  EXPECT_EQ(why_undecided(without, "case", "middle"), "rank 1 was killed");
  without["versions"][1]["problem"] = "it does not start";
  EXPECT_EQ(why_undecided(without, "case", "middle"), "it does not start");
}

}  // namespace
}  // namespace ucxbench
