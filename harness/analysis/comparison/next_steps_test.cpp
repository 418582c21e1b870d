#include "harness/analysis/comparison/next_steps.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

SeriesChange undecided(Doubt doubt, std::size_t wanted, const std::string& why) {
  return {.key = "pingpong/tag/host-host/tcp/8B",
          .metric = "latency_us",
          .change = Change::inconclusive,
          .base_launches = 24,
          .new_launches = 24,
          .doubt = doubt,
          .launches_wanted = wanted,
          .why = why};
}

SeriesChange noisy(std::size_t wanted) {
  return undecided(Doubt::too_noisy, wanted, "noise hides changes below 5 %");
}

Result made_by(const std::vector<std::string>& command) {
  Result result;
  result.run = {{"command", command}};
  return result;
}

const std::string quieter_machine = "a quieter machine (ucx-bench doctor)";

TEST(NextSteps, AreOneLineForAllRowsOfAKind) {
  Comparison comparison{.tests = 3};
  comparison.series = {noisy(60), noisy(515), noisy(4592)};
  const auto pingpong = made_by({"./ucx-bench", "pingpong", "--sizes", "8"});
  EXPECT_EQ(next_steps(comparison, pingpong),
            std::vector<std::string>{"3 rows: noise hides changes below 5 %: use --launches 60 for "
                                     "1 of them, " +
                                     quieter_machine + " for the others"});
  auto cut_short = pingpong;
  cut_short.run["left_out"] = "--max-time 3s did not suffice";
  EXPECT_TRUE(next_steps(comparison, cut_short)[0].find("use a longer max-time, for 60 launches") !=
              std::string::npos);
  comparison.series = {undecided(Doubt::too_few_launches, 7, "few"), noisy(60)};
  EXPECT_EQ(next_steps(comparison, pingpong),
            (std::vector<std::string>{
                "1 row: too few launches for a verdict among 3 tests: use --launches 7",
                "1 row: noise hides changes below 5 %: use --launches 60, or " + quieter_machine}));
  EXPECT_TRUE(next_steps({}, pingpong).empty());
}

TEST(NextSteps, NameNoNumberOfLaunchesThatNobodyMeasures) {
  Comparison comparison;
  comparison.series = {noisy(515), noisy(4592)};
  EXPECT_EQ(
      next_steps(comparison, made_by({"ucx-bench", "pingpong"})),
      std::vector<std::string>{"2 rows: noise hides changes below 5 %: use " + quieter_machine});
  // Whoever has measured 300 may do so twice.
  comparison.series[0].base_launches = comparison.series[0].new_launches = 300;
  EXPECT_NE(next_steps(comparison, made_by({"ucx-bench", "pingpong"}))[0].find("--launches 515"),
            std::string::npos);
}

TEST(NextSteps, OfASuiteAreForItsFile) {
  Comparison comparison;
  comparison.series = {noisy(60)};
  for (const auto* command : {"suite", "ab"}) {
    EXPECT_EQ(
        next_steps(comparison, made_by({"ucx-bench", "-q", command, "ci/suite.toml"})),
        std::vector<std::string>{"1 row: noise hides changes below 5 %: use launches = 60 above "
                                 "the first [[case]] of the suite file, or " +
                                 quieter_machine});
  }
}

}  // namespace
}  // namespace ucxbench
