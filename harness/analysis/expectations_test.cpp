#include "harness/analysis/expectations.hpp"

#include <gtest/gtest.h>

#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

/// A case with one sample of a metric per launch and pair.
struct MeasuredPairs {
  std::string metric;
  Case of{.state = CaseState::measured, .path = {{"why", "several lanes"}}};

  void add(int src, int dst, const std::vector<double>& launches, const std::string& its_class = "",
           const Json& carried_by = nullptr) {
    int launch = 0;
    for (const auto value : launches) {
      LaunchRecord record{.launch = launch, .src = src, .dst = dst};
      record.samples[metric] = {.quantiles = {.count = 1, .p50 = value}};
      // Counters are read in the first launch only.
      if (!carried_by.is_null() && launch == 0) record.path["carried_by"] = carried_by;
      of.launches.push_back(record);
      ++launch;
    }
    of.pairs.push_back({{"src", src}, {"dst", dst}});
    if (!its_class.empty()) of.pairs.back()["class"] = its_class;
  }
};

MeasuredPairs rates() { return {.metric = "bandwidth_GBps"}; }

/// What cuda_ipc carried crossed this, between all pairs.
void cross(Case& of, const char* medium) {
  for (auto& pair : of.pairs) pair.update({{"medium", medium}, {"medium_proof", "path-class"}});
}

CheckedLimit only_limit(const Expectation& expectation, const Case& of) {
  auto checked = check_limits(expectation, &of, &of);
  EXPECT_EQ(checked.size(), 1U);
  return checked.at(0);
}

TEST(Expectations, AreNotMetByPairsThatNobodyMeasured) {
  auto run = rates();
  run.of.shows.ranks = 4;
  for (const auto& [src, dst] : {std::pair{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}}) {
    run.add(src, dst, {5, 6, 7}, "", {{"tcp", 1.0}});
  }
  const auto checked = only_limit({.min_GBps = 4}, run.of);
  EXPECT_EQ(checked.fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(checked.why, "only 5 of 6 pairs of ranks were measured, not 1-2");
  EXPECT_EQ(only_limit({.carriers = {"tcp"}}, run.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(only_limit({.min_GBps = 6.5}, run.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(only_limit({.min_GBps = 8}, run.of).fulfilment, Fulfilment::missed);
  run.add(2, 1, {5, 6, 7}, "", {{"tcp", 1.0}});
  EXPECT_EQ(only_limit({.min_GBps = 4}, run.of).fulfilment, Fulfilment::met);
}

TEST(Expectations, AreNotDecidedByWhatNoMachineGives) {
  auto run = rates();
  run.of.shows.ranks = 2;
  run.add(0, 1, {500, 600, 700});
  const auto why = [](const Case&) { return std::string("impossible, above its path"); };
  for (const double limit : {4.0, 4000.0}) {
    const auto checked =
        check_limits({.min_GBps = limit}, &run.of, &run.of, {.impossible = why}).at(0);
    EXPECT_EQ(checked.fulfilment, Fulfilment::inconclusive);
    EXPECT_EQ(checked.why, "impossible, above its path");
    EXPECT_FALSE(checked.measured);
  }
}

TEST(Expectations, AreMissedByRanksThatDoNotReachEachOther) {
  auto run = rates();
  run.of.key = "p2p/tcp";
  run.of.shows.ranks = 4;
  const auto lost_of = [](const char* key) {
    auto launches = Json::array();
    launches.push_back(
        {{"cases", Json::array({key})}, {"ranks", {1, 2}}, {"reason", "rank 1 hangs"}});
    return launches;
  };
  const auto lost = lost_of("p2p/tcp");
  const auto judged = [&](const Json& launches) {
    return check_limits({.min_GBps = 4}, &run.of, &run.of, {.lost_launches = launches}).at(0);
  };
  for (const auto& [src, dst] : {std::pair{0, 1}, {2, 3}, {0, 2}, {1, 3}}) {
    run.add(src, dst, {5, 6, 7}, "", {{"tcp", 1.0}});
  }
  const auto missed = judged(lost);
  EXPECT_EQ(missed.fulfilment, Fulfilment::missed);
  EXPECT_EQ(missed.src, 1);
  EXPECT_EQ(missed.dst, 2);
  EXPECT_FALSE(missed.measured);
  EXPECT_EQ(missed.why, "only 4 of 6 pairs of ranks were measured, not 1-2, 0-3: rank 1 hangs");
  EXPECT_EQ(judged(lost_of("p2p/shm")).fulfilment, Fulfilment::inconclusive);
  run.of.launches.clear();
  run.of.state = CaseState::failed;
  EXPECT_EQ(judged(lost).fulfilment, Fulfilment::missed);
  EXPECT_EQ(judged(lost).src, 1);
  EXPECT_EQ(judged(Json::array()).fulfilment, Fulfilment::inconclusive);
}

TEST(Expectations, AreMissedByALaunchThatIsLostAfterAGoodOne) {
  auto run = rates();
  run.of.key = "p2p/tcp";
  run.of.shows.ranks = 3;
  for (const auto& [src, dst] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
    run.add(src, dst, {5, 6, 7}, "", {{"tcp", 1.0}});
  }
  const auto limits = [&](const Expectation& expected, const char* lost_case) {
    auto launches = Json::array();
    launches.push_back({{"launch", 1},
                        {"cases", Json::array({lost_case})},
                        {"ranks", {2}},
                        {"reason", "rank 2 hangs"}});
    return check_limits(expected, &run.of, &run.of, {.lost_launches = launches}).at(0);
  };
  for (const auto& expected : {Expectation{.min_GBps = 4}, Expectation{.carriers = {"tcp"}}}) {
    EXPECT_EQ(limits(expected, "p2p/shm").fulfilment, Fulfilment::met);
    const auto missed = limits(expected, "p2p/tcp");
    EXPECT_EQ(missed.fulfilment, Fulfilment::missed);
    EXPECT_EQ(missed.dst, 2);
    EXPECT_FALSE(missed.measured);
    EXPECT_EQ(missed.why, "launch 2 was lost: rank 2 hangs");
  }
  // Nor is what could not be judged.
  EXPECT_EQ(limits({.path_class = "NV2", .min_GBps = 4}, "p2p/tcp").fulfilment, Fulfilment::missed);
}

TEST(Expectations, OfSomeRanksLookAtTheirPairs) {
  auto run = rates();
  run.of.shows.ranks = 4;
  run.add(0, 1, {5, 6, 7}, "");
  run.add(1, 2, {1, 1, 1}, "");
  const auto judged = [&](std::set<int> ranks) {
    return check_limits({.min_GBps = 4}, &run.of, &run.of, {.ranks = std::move(ranks)}).at(0);
  };
  EXPECT_EQ(judged({0, 1}).fulfilment, Fulfilment::met);
  EXPECT_EQ(judged({1, 2}).fulfilment, Fulfilment::missed);
  EXPECT_EQ(judged({0, 1, 3}).why, "only 1 of 3 pairs of ranks were measured, not 0-3, 1-3");
  EXPECT_NE(judged({0, 3}).fulfilment, Fulfilment::met);
}

// A pair that was seen, but too short for the clock, is none that was measured.
TEST(Expectations, CountPairsThatHaveTheMetric) {
  auto run = rates();
  run.of.shows.ranks = 3;
  for (const auto& [src, dst] : {std::pair{0, 1}, {0, 2}, {1, 2}}) run.add(src, dst, {5, 6}, "");
  EXPECT_EQ(only_limit({.min_GBps = 4}, run.of).fulfilment, Fulfilment::met);
  for (auto& record : run.of.launches) {
    if (record.src == 1) record.samples.clear();
  }
  EXPECT_EQ(only_limit({.min_GBps = 4}, run.of).why,
            "only 2 of 3 pairs of ranks were measured, not 1-2");
}

TEST(Expectations, AreMetByTheSlowestPair) {
  auto run = rates();
  run.add(0, 1, {5, 6, 7});
  run.add(1, 0, {4, 5, 9});
  auto checked = only_limit({.min_GBps = 4.5}, run.of);
  EXPECT_EQ(checked.name, "min_GBps");
  EXPECT_EQ(checked.fulfilment, Fulfilment::met);
  EXPECT_EQ(checked.measured, 5);
  EXPECT_EQ(checked.src, 1);
  EXPECT_EQ(checked.dst, 0);
  EXPECT_EQ(checked.why, "");
  EXPECT_EQ(only_limit({.min_GBps = 5}, run.of).fulfilment, Fulfilment::met);
}

TEST(Expectations, AreMissedOnlyByAllLaunches) {
  auto run = rates();
  run.add(0, 1, {5, 6, 7});
  EXPECT_EQ(only_limit({.min_GBps = 6.5}, run.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(only_limit({.min_GBps = 6.5}, run.of).measured, 6);
  EXPECT_EQ(only_limit({.min_GBps = 7.5}, run.of).fulfilment, Fulfilment::missed);
  auto once = rates();
  once.add(0, 1, {5});
  EXPECT_EQ(only_limit({.min_GBps = 7.5}, once.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_NE(only_limit({.min_GBps = 7.5}, once.of).why, "");
}

TEST(Expectations, OfOnePairThatMissesAreMissed) {
  auto run = rates();
  run.add(0, 1, {1, 9, 1});
  run.add(1, 0, {3, 3, 3});
  run.add(1, 2, {9, 9, 9});
  const auto checked = only_limit({.min_GBps = 4}, run.of);
  EXPECT_EQ(checked.fulfilment, Fulfilment::missed);
  EXPECT_EQ(checked.src, 1);
  EXPECT_EQ(checked.dst, 0);
}

TEST(Expectations, OfTimeAreUpperLimits) {
  MeasuredPairs run{.metric = "latency_us"};
  run.add(0, 1, {3, 4, 5});
  EXPECT_EQ(only_limit({.max_us = 4}, run.of).fulfilment, Fulfilment::met);
  EXPECT_EQ(only_limit({.max_us = 3.5}, run.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(only_limit({.max_us = 2}, run.of).fulfilment, Fulfilment::missed);
}

TEST(Expectations, OfAClassLookAtItsPairs) {
  auto run = rates();
  run.add(0, 1, {40, 40}, "NV2");
  run.add(0, 2, {10, 10}, "SYS");
  EXPECT_EQ(only_limit({.path_class = "NV2", .min_GBps = 30}, run.of).fulfilment, Fulfilment::met);
  EXPECT_EQ(only_limit({.min_GBps = 30}, run.of).fulfilment, Fulfilment::missed);
  const auto absent = only_limit({.path_class = "NV1", .min_GBps = 30}, run.of);
  EXPECT_EQ(absent.fulfilment, Fulfilment::cannot_run);
  EXPECT_EQ(absent.why, "no pair of class NV1 was measured, only NV2, SYS");
  auto unknown = rates();
  unknown.add(0, 1, {40, 40});
  EXPECT_EQ(only_limit({.path_class = "NV1", .min_GBps = 30}, unknown.of).fulfilment,
            Fulfilment::inconclusive);
}

TEST(Expectations, OfThePathNeedSomebodyWhoKnows) {
  auto run = rates();
  run.add(0, 1, {40, 40}, "", {{"nvlink", 0.999}, {"tcp", 0.001}});
  cross(run.of, "nvlink");
  const Expectation nvlink{.carriers = {"nvlink"}};
  EXPECT_EQ(only_limit(nvlink, run.of).fulfilment, Fulfilment::met);
  EXPECT_EQ(only_limit(nvlink, run.of).measured, 0.999);
  run.add(1, 0, {40, 40});
  const auto unknown = only_limit(nvlink, run.of);
  EXPECT_EQ(unknown.fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(unknown.why, "cannot tell what carried it: several lanes");
  run.add(1, 2, {1, 1}, "", {{"tcp", 1.0}});
  const auto missed = only_limit(nvlink, run.of);
  EXPECT_EQ(missed.fulfilment, Fulfilment::missed);
  EXPECT_EQ(missed.measured, 0);
  EXPECT_EQ(missed.src, 1);
  EXPECT_EQ(only_limit({.carriers = {"nvlink", "tcp"}}, run.of).fulfilment,
            Fulfilment::inconclusive);
}

TEST(Expectations, OfNvlinkAreNotMetOverAnotherMedium) {
  auto run = rates();
  run.add(0, 1, {40, 40}, "", {{"nvlink", 1.0}});
  run.of.path["carried_by"] = {{"nvlink", 1.0}};
  const Expectation nvlink{.carriers = {"nvlink"}};
  EXPECT_EQ(only_limit(nvlink, run.of).fulfilment, Fulfilment::inconclusive) << "medium unknown";
  for (const auto* medium : {"pcie", "same-gpu"}) {
    cross(run.of, medium);
    const auto missed = only_limit(nvlink, run.of);
    EXPECT_EQ(missed.fulfilment, Fulfilment::missed) << medium;
    EXPECT_EQ(missed.measured, 0) << medium;
    EXPECT_EQ(missed.why,
              carriers_in_words(run.of.path, medium_in(run.of.pairs[0])) + " carried it");
  }
}

TEST(Expectations, OfFiguresAreNotMetByAnotherTransport) {
  auto run = rates();
  run.of.parameters = {{"transports", {"shm"}}};
  run.add(0, 1, {9, 9}, "", {{"shm", 1.0}});
  run.of.launches.front().path["verdict"] = "as-asked";
  const auto met = only_limit({.min_GBps = 1}, run.of);
  EXPECT_EQ(met.fulfilment, Fulfilment::met);
  EXPECT_EQ(met.path, PathVerdict::as_asked);
  run.add(1, 0, {8, 8}, "", {{"tcp", 1.0}});
  auto& other = run.of.launches[2].path;
  other["verdict"] = "other";
  const auto missed = only_limit({.min_GBps = 1}, run.of);
  EXPECT_EQ(missed.fulfilment, Fulfilment::missed);
  EXPECT_EQ(missed.path, PathVerdict::other);
  EXPECT_EQ(missed.measured, 8);
  EXPECT_EQ(missed.why, "tcp carried 1->0");
  // The path's own limit speaks of the pair that misses it, too.
  EXPECT_EQ(only_limit({.carriers = {"shm"}}, run.of).why, "tcp carried it");
  other["verdict"] = "partly";
  other["carried_by"] = {{"shm", 0.5}, {"tcp", 0.5}};
  EXPECT_EQ(only_limit({.min_GBps = 1}, run.of).fulfilment, Fulfilment::inconclusive);
  EXPECT_EQ(only_limit({.min_GBps = 10}, run.of).fulfilment, Fulfilment::missed);
  other = {{"verdict", "unknown"}};
  EXPECT_EQ(only_limit({.min_GBps = 1}, run.of).fulfilment, Fulfilment::met);
}

TEST(Expectations, OfTimesAreNotJudgedWhereRanksTakeTurnsOnAGpu) {
  auto run = rates();
  run.add(0, 1, {40, 40});
  EXPECT_EQ(only_limit({.min_GBps = 1}, run.of).fulfilment, Fulfilment::met);
  run.of.labels = {"same-gpu", "time-sliced"};
  const auto checked = only_limit({.min_GBps = 1}, run.of);
  EXPECT_EQ(checked.fulfilment, Fulfilment::inconclusive);
  EXPECT_TRUE(checked.why.starts_with("time-sliced")) << checked.why;
}

TEST(Expectations, OfWhatWasNotMeasuredSayWhy) {
  Case skipped{.state = CaseState::skipped,
               .skip_cause = SkipCause::unavailable,
               .reason = "ib: no InfiniBand device"};
  auto checked = only_limit({.min_GBps = 1}, skipped);
  EXPECT_EQ(checked.fulfilment, Fulfilment::cannot_run);
  EXPECT_EQ(checked.why, "ib: no InfiniBand device");
  for (const auto cause : {SkipCause::no_time, SkipCause::run_ended, SkipCause::too_short}) {
    skipped.skip_cause = cause;
    EXPECT_EQ(only_limit({.min_GBps = 1}, skipped).fulfilment, Fulfilment::inconclusive);
    EXPECT_EQ(only_limit({.carriers = {"ib"}}, skipped).fulfilment, Fulfilment::inconclusive);
  }
}

TEST(Expectations, HaveAnAnswerForEachLimit) {
  auto run = rates();
  run.add(0, 1, {5, 5}, "", {{"shm", 1.0}});
  MeasuredPairs times{.metric = "latency_us"};
  times.add(0, 1, {9, 9});
  const auto checked =
      check_limits({.min_GBps = 4, .max_us = 1, .carriers = {"shm"}}, &run.of, &times.of);
  ASSERT_EQ(checked.size(), 3U);
  EXPECT_EQ(checked[0].fulfilment, Fulfilment::met);
  EXPECT_EQ(checked[1].fulfilment, Fulfilment::missed);
  EXPECT_EQ(checked[2].fulfilment, Fulfilment::met);
  EXPECT_EQ(checked[2].expected, Json({"shm"}));
}

TEST(Expectations, LikeARunAreMetByIt) {
  auto run = rates();
  run.add(0, 1, {41, 43}, "NV2", {{"nvlink", 1.0}});
  run.add(1, 0, {40, 42}, "NV2", {{"nvlink", 1.0}});
  run.add(0, 2, {10.37, 10.37}, "SYS", {{"nvlink", 0.4}, {"tcp", 0.6}});
  run.of.path["carried_by"] = {{"nvlink", 1.0}};
  cross(run.of, "nvlink");
  MeasuredPairs times{.metric = "latency_us"};
  times.add(0, 1, {7.03, 7.03}, "NV2");
  const auto all =
      expectations_like({.transports = "tcp,nvlink", .memory = "cuda"}, run.of, times.of);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].path_class, "NV2");
  EXPECT_EQ(all[0].transports, "tcp,nvlink");
  EXPECT_EQ(all[0].memory, "cuda");
  EXPECT_DOUBLE_EQ(all[0].min_GBps.value_or(0), 32);  // of 41
  EXPECT_DOUBLE_EQ(all[0].max_us.value_or(0), 11);    // 10.545
  EXPECT_EQ(all[0].carriers, std::vector<std::string>{"nvlink"});
  EXPECT_EQ(all[1].path_class, "SYS");
  EXPECT_DOUBLE_EQ(all[1].min_GBps.value_or(0), 8.2);  // 8.296
  EXPECT_FALSE(all[1].max_us);
  EXPECT_TRUE(all[1].carriers.empty());
  for (const auto& expectation : all) {
    for (const auto& checked : check_limits(expectation, &run.of, &times.of)) {
      EXPECT_EQ(checked.fulfilment, Fulfilment::met) << checked.name;
    }
  }
  run.of.state = CaseState::skipped;
  EXPECT_TRUE(expectations_like({}, run.of, times.of).empty());
}

}  // namespace
}  // namespace ucxbench
