#include "harness/analysis/comparison/comparison.hpp"

#include <gtest/gtest.h>

#include <random>

#include "harness/analysis/comparison/halves.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// A run of latency cases with so many launches, `factor` times as slow, all with the same noise.
Result run(const std::vector<double>& factors, std::size_t launches, unsigned seed,
           double noise = 0.01) {
  Result result;
  result.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
  result.build = {{"commit", "0123456789abcdef"}};
  result.ucx = {{"version", "1.13.1"}};
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(0, noise);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Case of;
    of.key = "pingpong/tag/host-host/tcp/" + std::to_string(i);
    of.state = CaseState::measured;
    Metric metric;
    for (std::size_t launch = 0; launch < launches; ++launch) {
      metric.launch_medians.push_back(10 * factors[i] * std::exp(spread(random)));
    }
    of.metrics["latency_us"] = metric;
    of.metrics["message_rate_per_s"] = metric;
    of.shows = shows_of_older(of);
    result.cases.push_back(of);
  }
  return result;
}

TEST(Compare, FindsLossesAndGainsAndSaysWhatStayed) {
  const auto found = compare(run({1, 1, 1}, 12, 1), run({1.2, 0.8, 1}, 12, 2));
  ASSERT_EQ(found.series.size(), 3U);
  EXPECT_EQ(found.tests, 3U);
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_EQ(found.series[0].key.back(), '0');
  EXPECT_NEAR(found.series[0].ratio.estimate, 1.2, 0.02);
  EXPECT_EQ(found.series[1].change, Change::improved);
  EXPECT_EQ(found.series[2].change, Change::unchanged);
}

/// The run with a rate in place of each latency.
Result as_rates(Result result) {
  for (auto& of : result.cases) {
    auto metric = of.metrics.at("latency_us");
    for (auto& value : metric.launch_medians) value = 1 / value;
    of.metrics = {{"bandwidth_GBps", metric}};
    of.shows = shows_of_older(of);
  }
  return result;
}

TEST(Compare, KnowsWhichDirectionIsBetter) {
  auto base = run({1}, 12, 1);
  auto now = run({1.2}, 12, 2);
  for (auto* result : {&base, &now}) {
    auto& metrics = result->cases[0].metrics;
    metrics["bandwidth_GBps"] = metrics.at("latency_us");
    metrics.erase("latency_us");
  }
  EXPECT_EQ(compare(base, now).series[0].change, Change::improved);
}

TEST(Compare, JudgesNoTimesOfRanksThatTakeTurnsOnAGpu) {
  for (const bool only_base : {true, false}) {
    auto base = run({1, 1}, 12, 1);
    auto now = run({2, 2}, 12, 2);
    (only_base ? base : now).cases[0].labels = {"same-gpu", "time-sliced"};
    const auto found = compare(base, now);
    ASSERT_EQ(found.series.size(), 2U);
    EXPECT_EQ(found.tests, 1U) << "it is no test of the correction either";
    EXPECT_EQ(found.series[0].change, Change::regressed);
    const auto& row = found.series[1];
    EXPECT_EQ(row.change, Change::inconclusive);
    EXPECT_EQ(row.reason, Reason::time_sliced);
    EXPECT_TRUE(row.why.starts_with("not judged: time-sliced")) << row.why;
    EXPECT_FALSE(row.base || row.now || row.ratio.interval);
  }
}

TEST(Compare, SaysTheLabelsOfBothRuns) {
  auto base = run({1, 1}, 12, 1);
  auto now = run({1, 1}, 12, 2);
  const auto labels = [&] {
    auto rows = compare(base, now).series;
    std::ranges::sort(rows, {}, &SeriesChange::key);
    return std::pair(rows.at(0).labels, rows.at(1).labels);
  };
  using Both = std::pair<std::string, std::string>;
  EXPECT_EQ(labels(), Both("", ""));
  now.cases[0].labels = {"same-gpu"};
  EXPECT_EQ(labels(), Both("none -> same-gpu", ""));
  for (auto* of : {&base, &now}) of->machine["labels"] = {"vm"};
  EXPECT_EQ(labels(), Both("vm -> vm, same-gpu", "vm"));
  base.cases[0].labels = {"same-gpu"};
  EXPECT_EQ(labels(), Both("vm, same-gpu", "vm"));
  now.cases.pop_back();
  EXPECT_EQ(labels(), Both("vm, same-gpu", "vm"));
}

TEST(Compare, SaysWhenAVerdictIsOutOfReach) {
  const auto found = compare(run({1}, 3, 1), run({2}, 3, 2));
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why, "3 and 3 launches are too few for a verdict among 1 test");
  EXPECT_EQ(found.series[0].doubt, Doubt::too_few_launches);
  EXPECT_EQ(found.series[0].launches_wanted, 6U);
  EXPECT_EQ(found.next_steps.size(), 1U);
}

TEST(Compare, WantsMoreLaunchesThanThereWereThoughSomeAreNotCompared) {
  auto base = run({1}, 5, 1);
  auto now = run({2}, 5, 2);
  for (auto* of : {&base, &now}) {
    for (int launch = 0; launch < 6; ++launch) {
      of->cases[0].launches.push_back({.launch = launch});
    }
  }
  const auto found = compare(base, now);
  EXPECT_EQ(found.series[0].doubt, Doubt::too_few_launches);
  EXPECT_EQ(found.series[0].launches_wanted, 7U) << "of six, five were compared";
  EXPECT_NE(found.next_steps.at(0).find("--launches 7"), std::string::npos) << found.next_steps[0];
}

TEST(Compare, WantsMoreLaunchesWhereItIsTooNoisy) {
  const auto found = compare(run({1}, 10, 1, 0.3), run({1}, 10, 2, 0.3));
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why, "noise hides changes below 5 %");
  EXPECT_EQ(found.series[0].reason, Reason::noise);
  EXPECT_EQ(found.series[0].doubt, Doubt::too_noisy);
  EXPECT_GT(found.series[0].launches_wanted, 100U);
}

TEST(Compare, WantsAsManyLaunchesAsTheChangeLeavesRoomFor) {
  // Both intervals are about as wide; that of a change of 2.5 % is nearest to both ends.
  const auto none = compare(run({1}, 24, 1, 0.06), run({1}, 24, 1, 0.06)).series[0];
  const auto half = compare(run({1}, 24, 1, 0.06), run({1.025}, 24, 1, 0.06)).series[0];
  ASSERT_EQ(none.doubt, Doubt::too_noisy);
  ASSERT_EQ(half.doubt, Doubt::too_noisy);
  EXPECT_GT(half.launches_wanted, 3 * none.launches_wanted);
}

TEST(Compare, AdvisesNoMillionsOfLaunches) {
  const auto found = compare(run({1, 1}, 10, 1, 3), run({1, 1}, 10, 2, 3));
  EXPECT_EQ(found.next_steps,
            std::vector<std::string>{
                "2 rows: noise hides changes below 5 %: use a quieter machine (ucx-bench doctor)"});
}

TEST(Compare, IgnoresWhatIsBelowTheFloor) {
  // Certain, but small: 0.2 % with a noise of 0.01 %.
  const auto found = compare(run({1}, 20, 1, 1e-4), run({1.002}, 20, 2, 1e-4));
  EXPECT_LT(found.series[0].corrected, 0.01);
  EXPECT_EQ(found.series[0].change, Change::unchanged);
}

// A time and the rate that follows from it say the same, also where the floor is above 100 %.
TEST(Compare, ALossCountsAsMuchAsARateAsItDoesAsATime) {
  for (const auto& [factor, floor, change] : {std::tuple(3.0, 1.5, Change::regressed),
                                              {3.0, 2.1, Change::inconclusive},
                                              {1 / 3.0, 1.5, Change::improved},
                                              {1.73, 0.46, Change::regressed},
                                              {1.04, 0.5, Change::unchanged}}) {
    const auto base = run({1}, 12, 1, 1e-4);
    const auto now = run({factor}, 12, 2, 1e-4);
    const auto of_time = compare(base, now, {.floor = floor}).series[0];
    const auto of_rate = compare(as_rates(base), as_rates(now), {.floor = floor}).series[0];
    EXPECT_EQ(of_time.change, change) << factor;
    EXPECT_EQ(of_rate.change, change) << factor;
    // What is shown beside the change is what it is held against.
    for (const auto& row : {of_time, of_rate}) {
      EXPECT_EQ(std::abs(row.ratio.estimate - 1) > shown_floor(row), times_the_floor(row) > 1);
    }
  }
}

TEST(Compare, NamesWhatIsMissingOrNew) {
  auto base = run({1, 1}, 10, 1);
  auto now = run({1, 1}, 10, 2);
  now.cases[0].key = "pingpong/tag/host-host/shm/8B";
  now.cases[1].metrics.clear();
  now.cases[1].state = CaseState::skipped;
  now.cases[1].reason = "no tcp here";
  const auto found = compare(base, now);
  ASSERT_EQ(found.series.size(), 3U);
  EXPECT_EQ(found.series[0].change, Change::missing);
  EXPECT_EQ(found.series[0].why, "the new run does not have this case");
  EXPECT_EQ(found.series[1].why, "skipped in the new run: no tcp here");
  EXPECT_EQ(found.series[2].change, Change::added);
}

TEST(Compare, NeverAcrossMachines) {
  auto other = run({1}, 10, 2);
  other.machine["id"] = "another";
  const auto found = compare(run({1}, 10, 1), other, {.across_environments = true});
  EXPECT_EQ(found.incomparable, "measured on different machines, box and another");
  EXPECT_TRUE(found.series.empty());
}

TEST(Compare, AcrossEnvironmentsOnlyIfAsked) {
  const auto base = run({1}, 10, 1);
  auto now = run({1}, 10, 2);
  now.ucx["version"] = "1.13.3";
  now.ucx["environment"] = {{"inherited", {{"UCX_RNDV_THRESH", "8192"}}}};
  const auto patched = compare(base, now);
  EXPECT_EQ(patched.incomparable, "");
  EXPECT_EQ(patched.differences,
            (std::vector<std::string>{"UCX 1.13.1 -> 1.13.3", "UCX_RNDV_THRESH not set -> 8192"}));
  now.ucx["version"] = "1.22.0";
  now.machine["topology_hash"] = "f5c4";  // the base does not know its own
  const auto found = compare(base, now);
  EXPECT_EQ(found.incomparable,
            "measured in different environments, UCX 1.13 -> 1.22: measure the base again, or "
            "add --across-environments");
  EXPECT_TRUE(found.series.empty());
  EXPECT_EQ(compare(base, now, {.across_environments = true}).series.at(0).change,
            Change::unchanged);
}

TEST(Compare, LooksAtDriverAndTopology) {
  const auto with = [](const char* driver, const char* topology) {
    auto of = run({1}, 10, 1);
    of.ranks = {{{"rank", 0}, {"device", {{"driver", driver}}}}};
    of.machine["topology_hash"] = topology;
    return of;
  };
  EXPECT_EQ(compare(with("535.1", "a"), with("535.9", "a")).incomparable, "");
  const auto found = compare(with("535.1", "a"), with("550.1", "b")).incomparable;
  EXPECT_NE(found.find("driver 535 -> 550, topology a -> b"), std::string::npos) << found;
}

/// The launches of a run's first case go up by so much, from the first to the last.
Result drifting(Result result, double change) {
  auto& medians = result.cases.at(0).metrics.at("latency_us").launch_medians;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    medians[i] *= 1 + change * static_cast<double>(i) / static_cast<double>(medians.size() - 1);
  }
  return result;
}

TEST(Compare, GivesNoVerdictOnWhatDrifts) {
  const auto base = run({1, 1}, 12, 1, 0.001);
  auto now = drifting(run({1.3, 1.3}, 12, 2, 0.001), 0.5);
  const auto found = compare(base, now);
  ASSERT_EQ(found.series.size(), 2U);
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_EQ(found.series[0].why, "");
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_TRUE(found.differences[0].starts_with("not interleaved: "));
  const auto& drifts = found.series[1];
  EXPECT_EQ(drifts.change, Change::inconclusive);
  EXPECT_FALSE(drifts.base_drift);
  EXPECT_NEAR(drifts.new_drift.value_or(0), 0.5, 0.02);
  EXPECT_NE(drifts.why.find("new run drifted by +"), std::string::npos) << drifts.why;
  EXPECT_NE(drifts.why.find("interleaved (ucx-bench ab)"), std::string::npos);
  EXPECT_EQ(drifts.reason, Reason::drift);
  // Less than the floor does not count.
  EXPECT_EQ(compare(base, drifting(run({1.3, 1.3}, 12, 2, 1e-5), 0.004)).series[1].change,
            Change::regressed);
}

// What the machine did bounds what it may have made, or may hide.
TEST(Compare, ADriftExplainsNoMoreThanItsSize) {
  const auto change_of = [](double base_drift, double factor, double new_drift) {
    const auto found = compare(drifting(run({1}, 16, 1, 0.0005), base_drift),
                               drifting(run({factor}, 16, 2, 0.0005), new_drift));
    const auto& row = found.series[0];
    EXPECT_TRUE(row.base_drift || row.new_drift);
    EXPECT_EQ(row.reason, row.change == Change::inconclusive ? Reason::drift : Reason::none);
    const bool said = row.remark.find("less than would change the verdict") != std::string::npos;
    EXPECT_EQ(said, row.change != Change::inconclusive) << row.remark;
    return row.change;
  };
  EXPECT_EQ(change_of(0.02, 2, 0), Change::regressed);
  EXPECT_EQ(change_of(-0.02, 2, 0), Change::regressed);
  EXPECT_EQ(change_of(0.02, 0.5, 0.02), Change::improved);
  EXPECT_EQ(change_of(0.02, 1.03, 0), Change::inconclusive);
  EXPECT_EQ(change_of(0.1, 1.2, 0.1), Change::inconclusive);  // 1.1 times 1.1 is more
  EXPECT_EQ(change_of(0.1, 1, 0), Change::inconclusive);      // which may hide a loss of 5 %
  EXPECT_EQ(change_of(0.015, 1.0075, 0), Change::unchanged);
}

TEST(Compare, BelievesADriftThatMetBothInTurns) {
  auto base = drifting(run({1}, 12, 1, 0.001), 0.4);
  auto now = drifting(run({1.5}, 12, 2, 0.001), 0.42);
  EXPECT_EQ(compare(base, now).series[0].change, Change::inconclusive);
  base.run = {{"id", "a"}, {"ab", {{"other", "b"}}}};
  now.run = {{"id", "b"}, {"ab", {{"other", "a"}}}};
  const auto found = compare(base, now).series[0];
  EXPECT_EQ(found.change, Change::regressed);
  EXPECT_NE(found.remark.find("alike, as they were interleaved"), std::string::npos)
      << found.remark;
  EXPECT_TRUE(compare(base, now).differences.empty());
  EXPECT_EQ(compare(base, drifting(now, -0.6)).series[0].change, Change::inconclusive);
}

TEST(Compare, NamesTwoModes) {
  const auto base = run({1}, 12, 1, 0.001);
  auto now = run({1}, 12, 2, 0.001);
  auto& medians = now.cases[0].metrics.at("latency_us").launch_medians;
  for (const auto i : {1U, 4U, 6U, 11U}) medians[i] *= 1.5;
  const auto found = compare(base, now).series[0];
  EXPECT_FALSE(found.base_modes);
  ASSERT_TRUE(found.new_modes);
  EXPECT_NEAR(found.new_modes->high / found.new_modes->low, 1.5, 0.01);
  EXPECT_NE(found.remark.find("new run has two modes: "), std::string::npos) << found.remark;
  EXPECT_NE(found.remark.find("33 % of launches"), std::string::npos) << found.remark;
}

/// The same run with a canary that copies memory `factor` times as fast.
Result with_canary(Result result, double factor, std::size_t launches = 12) {
  Case canary;
  canary.key = "canary/memcpy";
  canary.benchmark = canary_benchmark;
  canary.state = CaseState::measured;
  Metric metric;
  for (std::size_t launch = 0; launch < launches; ++launch) {
    metric.launch_medians.push_back(8 * factor * (1 + 0.001 * static_cast<double>(launch % 5)));
  }
  canary.metrics["copy_GBps"] = metric;
  canary.shows = shows_of_older(canary);
  result.cases.push_back(canary);
  return result;
}

TEST(Compare, GivesNoVerdictOnAHostThatChanged) {
  const auto base = with_canary(run({1, 1, 1}, 12, 1), 1);
  auto now = with_canary(run({1.2, 0.8, 1}, 12, 2), 0.75);
  now.cases[1].key = "pingpong/tag/host-host/shm/1";
  const auto found = compare(base, now);
  EXPECT_EQ(found.host_changed, "canary/memcpy copy_GBps 8.012 -> 6.009 (-25.0 %)");
  ASSERT_EQ(found.series.size(), 4U);
  EXPECT_EQ(found.tests, 2U);
  for (const auto& series : found.series) {
    EXPECT_NE(series.key, "canary/memcpy");
    if (series.key.ends_with("/1")) continue;
    EXPECT_EQ(series.change, Change::inconclusive);
    EXPECT_EQ(series.why, "host reference drifted: " + found.host_changed +
                              "; rerun interleaved (ucx-bench ab)");
  }
  EXPECT_EQ(found.series[2].change, Change::missing);
  EXPECT_EQ(found.series[3].change, Change::added);
  ASSERT_EQ(found.canaries.size(), 1U);
  EXPECT_EQ(found.canaries[0].change, Change::regressed);
  // Nothing is left that turns would explain.
  EXPECT_TRUE(found.differences.empty());
}

// The host's drift explains a change of the same work, and no larger one.
TEST(Compare, AHostExplainsNoMoreThanItsDrift) {
  const auto change_of = [](double row, const char* canary, double host, int bytes = 65536) {
    const auto at = [&](double factor, double drift, unsigned seed) {
      auto result = with_canary(run({factor}, 12, seed, 0.001), drift);
      result.cases[0].parameters["bytes"] = bytes;
      result.cases[1].key = canary;
      return result;
    };
    const auto found = compare(at(1, 1, 1), at(row, host, 2));
    EXPECT_FALSE(found.host_changed.empty());
    if (found.series[0].change == Change::inconclusive) {
      EXPECT_EQ(found.series[0].reason, Reason::host);
    } else if (found.series[0].change != Change::unchanged) {
      EXPECT_EQ(found.series[0].remark, "the host reference drifted less than this");
    }
    return found.series[0].change;
  };
  const auto* const copy = "canary/memcpy";
  const auto* const call = "canary/syscall";
  for (const auto* canary : {copy, call}) {
    EXPECT_EQ(change_of(1.6, canary, 1 / 1.02), Change::regressed);
    EXPECT_EQ(change_of(1.6, canary, 1 / 1.6), Change::inconclusive);
    EXPECT_EQ(change_of(1.6, canary, 1 / 2.0), Change::inconclusive);
    EXPECT_EQ(change_of(0.6, canary, 1.02), Change::improved);
    EXPECT_EQ(change_of(0.6, canary, 1 / 0.6), Change::inconclusive);
    // A slower host makes nothing faster, and a faster one nothing slower.
    EXPECT_EQ(change_of(0.6, canary, 1 / 1.6), Change::improved);
    EXPECT_EQ(change_of(1.6, canary, 1.6), Change::regressed);
    // It may hide a loss of as much.
    EXPECT_EQ(change_of(1, canary, 1.02), Change::unchanged);
    EXPECT_EQ(change_of(1, canary, 1.2), Change::inconclusive);
  }
  // What stays in caches does not become slower because memory did.
  EXPECT_EQ(change_of(1.6, copy, 1 / 1.6, 8), Change::regressed);
  EXPECT_EQ(change_of(1.6, call, 1 / 1.6, 8), Change::inconclusive);
}

// Launches of one run, of which every second pair is `factor` times as slow.
Result in_pairs(double factor, std::size_t launches) {
  auto result = run({1}, launches, 1);
  result.run["id"] = "r1";
  auto& medians = result.cases[0].metrics.at("latency_us").launch_medians;
  for (std::size_t i = 0; i < launches; ++i) {
    if (i % 4 == 1 || i % 4 == 2) medians[i] *= factor;
  }
  return result;
}

TEST(Compare, ARunWithItselfInTurns) {
  const auto halves = halves_in_turns(in_pairs(1, 24));
  const auto found = compare(halves[0], halves[1]);
  ASSERT_EQ(found.series.size(), 1U);
  EXPECT_EQ(found.series[0].base_launches, 12U);
  EXPECT_EQ(found.series[0].new_launches, 12U);
  EXPECT_EQ(found.series[0].change, Change::unchanged);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0],
            "one run against itself, launches interleaved (A B B A): any change is a false alarm");
  // What happens to B's launches alone is seen, so the launches are those of A and of B.
  const auto apart = halves_in_turns(in_pairs(1.3, 24));
  EXPECT_EQ(compare(apart[0], apart[1]).series[0].change, Change::regressed);
}

TEST(Compare, BelievesAHostThatStayed) {
  const auto base = run({1, 1}, 12, 1);
  const auto now = run({1.2, 1}, 12, 2);
  const auto found = compare(with_canary(base, 1), with_canary(now, 1));
  EXPECT_EQ(found.host_changed, "");
  EXPECT_EQ(found.canaries.at(0).change, Change::unchanged);
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_EQ(found.series[1].change, Change::unchanged);
  EXPECT_EQ(found.tests, 2U);
  // Of too few launches, or of one run only, it says nothing.
  const auto few = compare(with_canary(base, 1, 3), with_canary(now, 0.5, 3));
  EXPECT_EQ(few.host_changed, "");
  const auto half = compare(with_canary(base, 1), now);
  EXPECT_TRUE(half.canaries.empty());
  EXPECT_EQ(half.series[0].change, Change::regressed);
  EXPECT_EQ(half.series.size(), 2U);
  EXPECT_EQ(compare(base, with_canary(now, 0.5)).series.size(), 2U);
}

// One sample in a hundred is many times as slow in every launch: no median moved.
TEST(Compare, NamesATailThatMovedWithoutItsMedian) {
  const auto with_tail = [](Result result, double times) {
    auto& of = result.cases[0];
    const auto medians = of.metrics.at("latency_us").launch_medians;
    for (std::size_t launch = 0; launch < medians.size(); ++launch) {
      LaunchRecord record;
      record.launch = static_cast<int>(launch);
      record.samples["latency_us"].quantiles = {.p50 = medians[launch],
                                                .p99 = 1.2 * times * medians[launch]};
      of.launches.push_back(record);
    }
    return result;
  };
  const auto base = with_tail(run({1}, 12, 1), 1);
  const auto remark_of = [&](double factor, double times) {
    return compare(base, with_tail(run({factor}, 12, 2), times)).series[0].remark;
  };
  const auto found = compare(base, with_tail(run({1}, 12, 2), 40)).series[0];
  EXPECT_EQ(found.change, Change::unchanged);
  EXPECT_TRUE(found.remark.starts_with("p99 moved, of which there is no verdict: 1"))
      << found.remark;
  EXPECT_NE(remark_of(1, 0.8), "");
  EXPECT_EQ(remark_of(1, 1), "");
  EXPECT_EQ(remark_of(1, 1.03), "");  // less than what matters
  EXPECT_EQ(remark_of(1.5, 1), "");   // as the median
  EXPECT_EQ(remark_of(1.5, 40), "");
}

TEST(Compare, KnowsHowManyLaunchesAVerdictTakes) {
  EXPECT_EQ(launches_needed(1, 0.01), 5U);
  EXPECT_EQ(launches_needed(4, 0.01), 6U);
  EXPECT_EQ(launches_needed(900, 0.01), 10U);
  EXPECT_EQ(launches_needed(1000, 0.01), 11U);
}

// Of 100 comparisons without a change, each of 20 cases, hardly one may raise an alarm; a loss of
// 10 % at a noise of 2 % is found in almost all.
TEST(Compare, RaisesFewFalseAlarmsAndFindsRealLosses) {
  unsigned alarms = 0;
  unsigned found = 0;
  constexpr unsigned trials = 100 / every_trial;
  for (unsigned trial = 0; trial < trials; ++trial) {
    const std::vector<double> same(20, 1.0);
    auto slower = same;
    slower[7] = 1.1;
    const auto base = run(same, 12, 3 * trial, 0.02);
    const auto loss = [](const Comparison& comparison) {
      return comparison.series.front().change == Change::regressed;
    };
    const auto& quiet = compare(base, run(same, 12, 3 * trial + 1, 0.02));
    alarms += loss(quiet) || quiet.series.front().change == Change::improved ? 1 : 0;
    found += loss(compare(base, run(slower, 12, 3 * trial + 2, 0.02))) ? 1 : 0;
  }
  EXPECT_LE(alarms, trials * 4 / 100);
  EXPECT_GE(found, trials * 95 / 100);
}

}  // namespace
}  // namespace ucxbench
