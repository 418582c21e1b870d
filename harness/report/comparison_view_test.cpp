#include "harness/report/comparison_view.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

// Most launches of the new run met a faster placement: its plain median is lower, though it is
// slower wherever both runs were.
Comparison against_the_plain_medians() {
  Comparison comparison{.tests = 1};
  SeriesChange series{.key = "pingpong/tag/host-host/shm/8B", .metric = "latency_us"};
  series.change = Change::regressed;
  series.base = 1.493;
  series.now = 1.111;
  series.matched_base = 1.1;
  series.matched_now = 1.49;
  series.ratio = {.estimate = 1.35, .interval = std::array{1.3, 1.4}};
  series.floor = 0.01;
  comparison.series.push_back(series);
  return comparison;
}

TEST(ComparisonView, TheChangeFollowsFromTheFiguresBesideIt) {
  const auto cells = grid_of(against_the_plain_medians()).rows.at(0);
  const auto base = std::stod(cells.at(3));
  const auto now = std::stod(cells.at(4));
  EXPECT_NEAR(100 * (now / base - 1), std::stod(cells.at(5)), 0.1);
  const auto json = comparison_json(against_the_plain_medians()).at("series").at(0);
  EXPECT_NEAR(json.at("matched_new").get<double>() / json.at("matched_base").get<double>(),
              json.at("ratio").get<double>(), 1e-9);
  EXPECT_EQ(json.at("new"), 1.111);
}

TEST(ComparisonView, CellsOfAPageSayWhatIsNotKnown) {
  auto series = against_the_plain_medians().series.front();
  auto cells = comparison_cells(series);
  EXPECT_EQ(cells.at("delta"), "+35.0 %");
  EXPECT_EQ(cells.at("interval"), "+30.0 to +40.0 %");
  EXPECT_EQ(cells.at("effect"), "30");
  series.now.reset();
  series.matched_base.reset();
  series.ratio.interval.reset();
  cells = comparison_cells(series);
  EXPECT_EQ(cells.at("base"), "?");
  for (const char* name : {"delta", "interval", "p", "floor", "effect", "by"}) {
    EXPECT_EQ(cells.at(name), "–") << name;
  }
}

TEST(ComparisonView, OtherPlainMediansAreSaidOnce) {
  auto comparison = against_the_plain_medians();
  comparison.series.push_back(comparison.series.front());
  for (const auto& text : {comparison_table(comparison), comparison_markdown(comparison)}) {
    const auto at = text.find("medians over all launches differ in 2 rows");
    EXPECT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("medians over all launches", at + 1), std::string::npos) << text;
  }
  for (auto& series : comparison.series) series.now = *series.base * series.ratio.estimate;
  EXPECT_EQ(comparison_table(comparison).find("medians over all launches"), std::string::npos);
}

TEST(ComparisonView, EachOutputSaysTheLabels) {
  auto comparison = against_the_plain_medians();
  comparison.series.front().labels = "vm, same-gpu";
  for (const auto& text : {comparison_table(comparison), comparison_markdown(comparison)}) {
    EXPECT_NE(text.find("labels: vm, same-gpu\n"), std::string::npos) << text;
  }
  EXPECT_EQ(comparison_json(comparison).at("series").at(0).at("labels"), "vm, same-gpu");
  comparison.series.push_back(comparison.series.front());
  comparison.series.front().labels = "vm";
  EXPECT_NE(comparison_table(comparison).find("labels: vm, same-gpu (1 row)"), std::string::npos);
}

TEST(ComparisonView, EachOutputSaysWhatCarriedTheBytes) {
  auto comparison = against_the_plain_medians();
  auto& row = comparison.series.front();
  row.carriers = {"shm", "tcp"};
  row.reason = Reason::transport;
  row.why = "other transport: base shm, new tcp";
  comparison.differences = {"transport used: base shm, new tcp: 1 of 1 row"};
  EXPECT_EQ(grid_of(comparison).rows.at(0).back(), "transport");
  for (const auto& text : {comparison_table(comparison), comparison_markdown(comparison)}) {
    const auto at = text.find("base shm, new tcp");
    EXPECT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("base shm, new tcp", at + 1), std::string::npos) << "once for all\n"
                                                                         << text;
  }
  const auto json = comparison_json(comparison).at("series").at(0);
  EXPECT_EQ(json.at("transport_used"), Json({{"base", "shm"}, {"new", "tcp"}}));
  EXPECT_EQ(json.at("reason"), "transport");
}

// Of a host that is gone, say: all its pairs, latency and bandwidth.
TEST(ComparisonView, PairsOfOneRunAreOneLineForEachCase) {
  auto comparison = against_the_plain_medians();
  for (const auto* key : {"p2p/8B", "p2p/1MiB"}) {
    for (const auto* metric : {"latency_us", "bandwidth_GBps"}) {
      for (int dst = 1; dst < 8; ++dst) {
        comparison.series.push_back({.key = key,
                                     .metric = metric,
                                     .pair = RowPair{.src = 0, .dst = dst, .of_one_run = true},
                                     .change = Change::missing,
                                     .why = "the new run does not have this pair"});
      }
    }
  }
  const auto grid = grid_of(comparison);
  ASSERT_EQ(grid.rows.size(), 3U);
  EXPECT_EQ(grid.rows.at(1).at(1), "p2p/8B pair 0->1 and 6 more");
  EXPECT_EQ(grid.rows.at(1).at(2), "latency_us, bandwidth_GBps");
  EXPECT_EQ(grid.rows.at(2).at(1), "p2p/1MiB pair 0->1 and 6 more");
  for (const auto& text : {comparison_table(comparison), comparison_markdown(comparison)}) {
    std::size_t lines = 0;
    for (auto at = text.find("does not have"); at != std::string::npos;
         at = text.find("does not have", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, 2U) << text;
  }
  EXPECT_EQ(comparison_json(comparison).at("series").size(), 5U);  // a row for each metric
}

TEST(ComparisonView, EachOutputEndsWithNothingDecided) {
  auto comparison = against_the_plain_medians();
  comparison.series.resize(10, comparison.series.front());
  EXPECT_EQ(nothing_decided(comparison), "");
  EXPECT_TRUE(comparison_json(comparison).at("nothing_decided").is_null());
  const auto all_say = [&](const std::string& what) {
    EXPECT_EQ(nothing_decided(comparison), "nothing was decided: " + what);
    EXPECT_EQ(comparison_json(comparison).at("nothing_decided"), nothing_decided(comparison));
    const auto table = comparison_table(comparison);
    EXPECT_EQ(table.find("! nothing was decided"), table.rfind("! ")) << table;
    const auto markdown = comparison_markdown(comparison);
    EXPECT_EQ(markdown.find("- **nothing was decided"), markdown.rfind("\n- ") + 1) << markdown;
  };
  for (auto& series : comparison.series) series.change = Change::inconclusive;
  comparison.series[0].why = "the clock is too coarse";
  all_say("10 of 10 rows are inconclusive; the clock is too coarse");
  comparison.next_steps = {"10 rows: too few launches: use --launches 24"};
  all_say("10 of 10 rows are inconclusive; 10 rows: too few launches: use --launches 24");
  comparison.series.resize(1);
  comparison.series[0].change = Change::missing;
  comparison.next_steps.clear();
  all_say("1 of 1 row is missing; measure the same cases in both runs");
  // In JUnit's XML, where no row is a case that did not pass.
  const auto in_junit = [&] {
    const auto xml = comparison_junit(comparison, {});
    EXPECT_NE(xml.find("failures=\"0\""), std::string::npos) << xml;
    return xml.find("<skipped type=\"inconclusive\" message=\"nothing was decided: ") !=
           std::string::npos;
  };
  EXPECT_FALSE(in_junit());
  comparison.series[0].change = Change::added;
  all_say("1 of 1 row is new; measure the same cases in both runs");
  EXPECT_TRUE(in_junit());
  comparison.series.clear();
  EXPECT_EQ(nothing_decided(comparison),
            "nothing was decided: the two runs have no metric to judge");
  EXPECT_TRUE(in_junit());
  comparison.series.resize(1);
  comparison.incomparable = "measured on different machines, a and b";
  all_say("the two runs cannot be compared: measured on different machines, a and b");
}

TEST(ComparisonView, InBriefHasEachLossAndFewOtherRows) {
  auto comparison = against_the_plain_medians();
  auto& all = comparison.series;
  all.resize(30, all.front());
  EXPECT_EQ(comparison_table(comparison, false, true).find("--all-rows"), std::string::npos);
  for (std::size_t row = 5; row < all.size(); ++row) all[row].change = Change::unchanged;
  EXPECT_NE(comparison_table(comparison, false, true).find("24 of 30 rows; --all-rows"),
            std::string::npos);
  EXPECT_EQ(comparison_table(comparison).find("--all-rows"), std::string::npos);
}

TEST(ComparisonView, RemarksStandWithTheirRow) {
  auto comparison = against_the_plain_medians();
  auto& noisy = comparison.series.front();
  noisy.change = Change::inconclusive;
  noisy.doubt = Doubt::too_noisy;
  noisy.why = "noise hides changes below 5 %";
  noisy.reason = Reason::noise;
  noisy.remark = "two modes";
  comparison.next_steps = {"1 row: use a quieter machine"};
  EXPECT_EQ(comparison_table(comparison).find("hides"), std::string::npos);
  EXPECT_EQ(grid_of(comparison).rows.at(0).back(), "noise");
  for (const auto& text : {comparison_table(comparison), comparison_markdown(comparison)}) {
    EXPECT_NE(text.find(": two modes\n"), std::string::npos) << text;
  }
  const auto json = comparison_json(comparison).at("series").at(0);
  EXPECT_EQ(json.at("why"), "noise hides changes below 5 %; two modes");
}

}  // namespace
}  // namespace ucxbench
