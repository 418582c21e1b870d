#include "harness/analysis/comparison/resolution.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "harness/analysis/comparison/comparison.hpp"

namespace ucxbench {
namespace {

Result run_of(const std::vector<double>& medians, double clock_step_ns = 0) {
  Result result;
  result.machine = {{"id", "box"}};
  if (clock_step_ns > 0) result.ranks = {{{"rank", 0}, {"clock_step_ns", clock_step_ns}}};
  auto& of = result.cases.emplace_back();
  of.key = "pingpong/tag/host-host/shm/8B";
  of.state = CaseState::measured;
  of.metrics["latency_us"].launch_medians = medians;
  return result;
}

double step_of(const Result& run) { return step_of(run, run.cases[0], "latency_us"); }

// Recorded on an EPYC whose time-stamp counter moves in steps of 10 ns.
const std::vector<double> on_a_grid = {0.110166, 0.115173, 0.110165, 0.115174, 0.120181, 0.115173,
                                       0.110166, 0.120180, 0.115172, 0.110166, 0.115173, 0.130195};
const std::vector<double> of_means = {0.110831, 0.112204, 0.110912, 0.113173, 0.114181, 0.112771,
                                      0.110317, 0.111180, 0.113009, 0.112530, 0.111888, 0.114960};

TEST(Resolution, IsSeenInTheMediansOrMeasured) {
  EXPECT_NEAR(step_of(run_of(on_a_grid)), 0.005007, 2e-6);
  EXPECT_DOUBLE_EQ(step_of(run_of(on_a_grid, 10)), 0.005);
  EXPECT_DOUBLE_EQ(step_of(run_of(std::vector(12, 0.11), 10)), 0.005);
  EXPECT_EQ(step_of(run_of(std::vector(12, 0.11))), 0);
  // However coarse the clock is, means of many round trips are not.
  EXPECT_EQ(step_of(run_of(of_means, 10)), 0);
  auto some_alike = of_means;
  some_alike[1] = some_alike[0];
  EXPECT_EQ(step_of(run_of(some_alike, 10)), 0);
}

TEST(Resolution, OfARankAloneIsAWholeStep) {
  auto run = run_of(on_a_grid, 10);
  run.cases[0].launches = {LaunchRecord{.src = 0, .dst = 0}};
  EXPECT_DOUBLE_EQ(step_of(run), 0.01);
}

TEST(Resolution, BoundsWhatCountsAsAChange) {
  const auto found = [](double base, double now, double clock_step_ns) {
    return compare(run_of(std::vector(12, base), clock_step_ns),
                   run_of(std::vector(12, now), clock_step_ns))
        .series.at(0);
  };
  const auto one_step = found(0.110, 0.115, 10);
  EXPECT_LT(one_step.corrected, 0.005);
  EXPECT_EQ(one_step.change, Change::inconclusive);
  EXPECT_EQ(one_step.why, "the clock is too coarse: changes below 9.1 % (two steps) are hidden");
  EXPECT_EQ(one_step.reason, Reason::clock);
  EXPECT_GT(one_step.ratio.interval->at(1), 1.09);
  EXPECT_LT(one_step.ratio.interval->at(0), 1);
  EXPECT_EQ(found(0.110, 0.120, 10).change, Change::regressed);
  // Of a longer latency a step is little.
  EXPECT_EQ(found(5.000, 5.005, 10).change, Change::unchanged);
  EXPECT_EQ(found(5.0, 5.1, 10).change, Change::regressed);
}

// Seven of twelve launches are alike, so that the median absolute deviation is 0.
TEST(Resolution, NoiseIsNotNothingWhereMostAreEqual) {
  auto medians = std::vector(7, 10.0);
  medians.insert(medians.end(), {11, 12, 12.5, 11.5, 12.2});
  EXPECT_GT(compare(run_of(medians), run_of(medians)).series.at(0).floor, 0.05);
}

}  // namespace
}  // namespace ucxbench
