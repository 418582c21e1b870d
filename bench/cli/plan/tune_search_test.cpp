#include "bench/cli/plan/tune_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace ucxbench {
namespace {

/// Times as fast in each of four rows, by the settings; noise of 2 %, always the same.
class Landscape : public Trials {
 public:
  using Times = std::function<std::vector<double>(const Variables&)>;
  explicit Landscape(Times times, int most = 1000, unsigned seed = 7, double noise = 0.02)
      : times_(std::move(times)), most_(most), random_(seed), noise_(0, noise) {}

  Trial measure(const Variables& settings, int launches) override {
    auto& trial = trials_[settings];
    const auto times = times_(settings);
    if (times.empty()) {
      trial.problem = "crashes";
      return trial;
    }
    for (std::size_t row = 0; row < times.size(); ++row) {
      auto& gains = trial.gains[std::to_string(row)];
      while (static_cast<int>(gains.size()) < launches) {
        gains.push_back(std::log(times[row]) + noise_(random_));
        if (row == 0) ++launched_;
      }
    }
    return trial;
  }
  bool is_over() override { return launched_ >= most_; }
  int launched() const { return launched_; }

 private:
  Times times_;
  int most_;
  int launched_ = 0;
  std::map<Variables, Trial> trials_;
  std::mt19937 random_;
  std::normal_distribution<double> noise_;
};

std::vector<Variables> some_settings(int count) {
  std::vector<Variables> all;
  for (int at = 0; at < count; ++at) all.push_back({{"UCX_S" + std::to_string(at), "y"}});
  return all;
}

bool has(const Variables& settings, const std::string& name) { return settings.contains(name); }

TEST(SearchSettings, FindsThePlantedOne) {
  Landscape landscape([](const Variables& s) {
    return has(s, "UCX_S17") ? std::vector{1.0, 1.0, 1.1, 5.0} : std::vector{1.0, 1.0, 0.97, 1.0};
  });
  const auto found = search_settings(some_settings(30), landscape);
  EXPECT_TRUE(has(found.settings, "UCX_S17"));
  EXPECT_EQ(found.settings.size(), 1U);
  EXPECT_NEAR(found.score, std::log(5.5) / 4, 0.02);
  EXPECT_EQ(found.tried, 30U);
  EXPECT_FALSE(found.cut_short);
  // Not all of them often: that is what halving is for.
  EXPECT_LT(landscape.launched(), 30 * 4);
}

TEST(SearchSettings, CombinesWhatHelpsTogether) {
  Landscape landscape([](const Variables& s) {
    const double a = has(s, "UCX_S3") ? 2 : 1;
    const double b = has(s, "UCX_S8") ? 1.5 : 1;
    const double c = has(s, "UCX_S9") ? 0.5 : 1;
    return std::vector{a, a * b, 1.0, c};
  });
  const auto found = search_settings(some_settings(20), landscape);
  EXPECT_EQ(found.settings, (Variables{{"UCX_S3", "y"}, {"UCX_S8", "y"}}));
}

TEST(SearchSettings, AddsNothingThatMayBeLuck) {
  // Many partners without effect: the luckiest of them is not taken for a gain.
  int too_many = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Landscape landscape(
        [](const Variables& s) { return std::vector{has(s, "UCX_S3") ? 2.0 : 1.0}; }, 1000, seed,
        0.1);
    const auto found = search_settings(some_settings(20), landscape).settings;
    EXPECT_TRUE(has(found, "UCX_S3"));
    too_many += found.size() > 1;
  }
  EXPECT_LE(too_many, 5);
}

TEST(SearchSettings, NeverSetsOneVariableTwice) {
  Landscape landscape([](const Variables& s) { return std::vector{has(s, "UCX_A") ? 2.0 : 1.0}; });
  const auto found = search_settings({{{"UCX_A", "1"}}, {{"UCX_A", "2"}}}, landscape);
  EXPECT_EQ(found.settings.size(), 1U);
}

TEST(SearchSettings, FindsNothingWhereEverythingIsSlower) {
  Landscape landscape([](const Variables&) { return std::vector{0.8, 0.9}; });
  EXPECT_TRUE(search_settings(some_settings(10), landscape).settings.empty());
}

TEST(SearchSettings, LeavesOutWhatCrashes) {
  Landscape landscape([](const Variables& s) {
    if (has(s, "UCX_S1")) return std::vector<double>();
    return std::vector{has(s, "UCX_S2") ? 1.5 : 1.0};
  });
  EXPECT_EQ(search_settings(some_settings(4), landscape).settings, (Variables{{"UCX_S2", "y"}}));
}

TEST(SearchSettings, PassesOverWhatLosesAsMuchAsItGains) {
  // It helps most on the whole, but one size takes longer by more than any other gains.
  const auto times = [](const Variables& s) {
    if (has(s, "UCX_S1")) return std::vector{2.0, 1.9, 1.9, 0.4};
    return has(s, "UCX_S2") ? std::vector{1.2, 1.2, 1.2, 0.95} : std::vector{1.0, 1.0, 1.0, 1.0};
  };
  Landscape landscape(times);
  EXPECT_EQ(search_settings(some_settings(20), landscape).settings, (Variables{{"UCX_S2", "y"}}));
  Landscape alone(times);
  EXPECT_TRUE(search_settings({{{"UCX_S1", "y"}}}, alone).settings.empty());
}

TEST(SearchSettings, EndsWithTheBestSoFar) {
  Landscape landscape([](const Variables& s) { return std::vector{has(s, "UCX_S4") ? 3.0 : 1.0}; },
                      10);
  const auto found = search_settings(some_settings(30), landscape);
  EXPECT_TRUE(found.cut_short);
  EXPECT_EQ(found.tried, 10U);
  EXPECT_TRUE(has(found.settings, "UCX_S4"));
}

TEST(TrialScore, IsTheMeanOfMedians) {
  const Trial trial{.gains = {{"a", {0.1, 9.0, 0.1}}, {"b", {-0.1}}}};
  EXPECT_NEAR(trial.score(), 0, 1e-12);
  EXPECT_EQ((Trial{.gains = {{"a", {1.0}}}, .problem = "ended"}).score(),
            std::numeric_limits<double>::lowest());
}

SeriesChange row(Change change, double ratio, const char* better = "lower") {
  SeriesChange series;
  series.key = "pingpong/tag/host-host/tcp/1MiB";
  series.metric = "latency_us";
  series.better = better;
  series.change = change;
  series.ratio = {.estimate = ratio, .interval = {{0.9 * ratio, 1.1 * ratio}}};
  return series;
}

TEST(VerdictOnSettings, NeedsAGainThatIsLargerThanEveryLoss) {
  Comparison comparison;
  comparison.series = {row(Change::unchanged, 1.0), row(Change::inconclusive, 0.5)};
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::unconfirmed);
  EXPECT_EQ(verdict_on_settings(comparison).undecided.size(), 1U);
  comparison.series[1] = row(Change::inconclusive, 1.1);
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::refuted);
  comparison.series[1] = row(Change::regressed, 1.1);
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::losing);
  comparison.series = {row(Change::regressed, 1.25), row(Change::improved, 0.2),
                       row(Change::improved, 1.5, "higher")};
  const auto worth = verdict_on_settings(comparison);
  EXPECT_EQ(worth.outcome, TuneOutcome::confirmed);
  ASSERT_EQ(worth.helps.size(), 2U);
  const std::string key = "pingpong/tag/host-host/tcp/1MiB latency_us: ";
  EXPECT_EQ(in_words(worth),
            (std::vector<std::string>{"helps " + key + "5.00 times as fast (4.55 to 5.56)",
                                      "helps " + key + "1.50 times as fast (1.35 to 1.65)",
                                      "costs " + key + "0.800 of the speed (0.727 to 0.889)"}));
  comparison.series = {row(Change::regressed, 2.0), row(Change::improved, 0.8)};
  const auto losing = verdict_on_settings(comparison);
  EXPECT_EQ(losing.outcome, TuneOutcome::losing);
  EXPECT_NE(why_not_in_words(losing, comparison).find("the losses are as large as the gains"),
            std::string::npos);
  comparison.series[0].pair = {.src = 1, .dst = 2};
  EXPECT_NE(why_not_in_words(verdict_on_settings(comparison), comparison).find("pair 1->2"),
            std::string::npos);
  // Many small losses.
  comparison.series.assign(9, row(Change::regressed, 1.1));
  comparison.series.push_back(row(Change::improved, 0.5));
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::losing);
  comparison.series.back().change = Change::missing;
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::missing);
  comparison.incomparable = "measured on different machines";
  EXPECT_EQ(verdict_on_settings(comparison).outcome, TuneOutcome::incomparable);
}

TEST(VerdictOnSettings, SaysWhatAnUndecidedRowMayLose) {
  Comparison comparison;
  comparison.series = {row(Change::improved, 0.8), row(Change::inconclusive, 0.9),
                       row(Change::inconclusive, 0.96, "higher"),
                       row(Change::inconclusive, 1.5, "higher")};
  auto& unknown = comparison.series.emplace_back(row(Change::inconclusive, 1.3));
  unknown.ratio.interval.reset();
  unknown.why = "one duet";
  const std::string row = "no verdict pingpong/tag/host-host/tcp/1MiB latency_us: ";
  const auto lines = in_words(verdict_on_settings(comparison));
  EXPECT_EQ(std::vector(lines.begin() + 1, lines.end()),
            (std::vector<std::string>{
                row + "1.11 times as fast (1.01 to 1.23)",
                row + "0.960 of the speed (0.864 to 1.06), may lose up to 14 %",
                row + "1.50 times as fast (1.35 to 1.65)", row + "may lose any amount: one duet"}));
}

}  // namespace
}  // namespace ucxbench
