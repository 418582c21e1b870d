#include "harness/analysis/answers.hpp"

#include <gtest/gtest.h>

#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Case merged(const std::string& transports, double p50, std::array<double, 2> ci95) {
  Case of;
  of.benchmark = "merge";
  of.state = CaseState::measured;
  of.parameters = {{"transports", {transports}}, {"ranks", 2}, {"runs", 3}, {"rows", 1000}};
  Metric metric;
  metric.quantiles.p50 = p50;
  metric.ci95 = ci95;
  of.metrics["wall_ms"] = metric;
  of.phases = {// A mean, which one slow run may raise.
               {{"name", "shuffle"}, {"kind", "waiting"}, {"share", 0.51}},
               {{"name", "probe"}, {"kind", "computing"}, {"share", 0.5}},
               {{"name", "UCX, while computing"}, {"kind", "moving"}, {"share", 0.06}}};
  of.exchange = {{"exposed_ms", 0.02 * p50}};
  of.shows = shows_of_older(of);
  return of;
}

Case sent(const std::vector<std::string>& transports, std::uint64_t bytes, double p50,
          std::optional<std::array<double, 2>> ci95) {
  Case of;
  of.benchmark = "pingpong";
  of.state = CaseState::measured;
  of.parameters = {{"transports", transports}, {"bytes", bytes}, {"api", "tag"}};
  Metric metric;
  metric.quantiles.p50 = p50;
  metric.ci95 = ci95;
  of.metrics["bandwidth_GBps"] = metric;
  of.shows = shows_of_older(of);
  return of;
}

using Lines = std::vector<std::string>;

TEST(Answers, OfAWorkloadSayWhatLimitsItAndWhichSetIsTheFastest) {
  Result run;
  run.cases = {merged("tcp", 150, {140, 160}), merged("shm", 100, {98, 103})};
  EXPECT_EQ(
      answers_of(Judged(run)),
      (Lines{"limits: merge, 2 ranks over shm: 2 % of the time waits for messages, 6 % is "
             "spent in UCX; the rest is computing, most in probe (50 %): a faster transport gains "
             "at most 8 %",
             "fastest: merge, 2 ranks: shm (100 ms, 95% CI 98.0..103); 1.50 x faster than tcp (150 "
             "ms, 95% CI 140..160)"}));
}

TEST(Answers, CountNoRankThatIsNotReadyAsCommunication) {
  auto of = merged("tcp", 100, {98, 103});
  of.benchmark = "replay";
  of.exchange = {{"exposed_ms", 10}, {"not_ready_ms", 70}};
  of.phases = {{{"name", "gaps"}, {"kind", "gap"}, {"share", 0.2}},
               {{"name", "transferring"}, {"kind", "exchanging"}, {"share", 0.1}},
               {{"name", "waiting"}, {"kind", "not-ready"}, {"share", 0.7}}};
  Result run;
  run.cases = {of};
  EXPECT_EQ(
      answers_of(Judged(run)),
      (Lines{"limits: replay, 2 ranks over tcp: 10 % of the time waits for messages, 70 % "
             "for ranks that are not ready, what UCX takes while computing is not measured; "
             "the rest is computing, most in gaps (20 %): a faster transport gains at most 10 %"}));
}

TEST(Answers, BeginWithFiguresThatCannotBe) {
  Result run;
  run.cases = {sent({"shm"}, 8, 1, std::array{0.9, 1.1}),
               sent({"tcp"}, 8, 9, std::array{8.9, 9.1})};
  EXPECT_EQ(answers_of(Judged(run)).size(), 1U);
  LaunchRecord record;
  record.samples["latency_us"].quantiles.min = -1;
  run.cases[0].launches = {record};
  // Whatever a file recorded.
  run.findings = {{{"id", "few-launches"}, {"severity", "note"}}};
  const auto answers = answers_of(Judged(run));
  ASSERT_EQ(answers.size(), 1U) << "none is the fastest of one";
  EXPECT_TRUE(answers[0].starts_with("impossible: ")) << answers[0];
  EXPECT_TRUE(answers[0].ends_with(
      "latency_us of 0->1 is -1.00, which cannot be; nothing follows from this case, measure "
      "again"))
      << answers[0];
}

TEST(Answers, PreferTheSetWithTheFewestMembers) {
  Result run;
  run.cases = {sent({"shm", "tcp"}, 8, 9.1, std::array{8.9, 9.3}),
               sent({"auto"}, 8, 9.2, std::array{8.9, 9.5}),
               sent({"shm"}, 8, 9, std::array{8.8, 9.2}),
               sent({"tcp"}, 8, 1, std::array{0.9, 1.1})};
  EXPECT_EQ(answers_of(Judged(run)),
            Lines{"fastest: pingpong, bandwidth of 8 B: shm (9.00 GB/s, 95% CI 8.80..9.20), not "
                  "told apart from shm+tcp (9.10 GB/s, 95% CI 8.90..9.30), auto (9.20 GB/s, 95% "
                  "CI 8.90..9.50); 9.00 x faster than tcp (1.00 GB/s, 95% CI 0.900..1.10)"});
}

TEST(Answers, CallNothingFasterByThreePercent) {
  Result run;
  run.cases = {sent({"shm"}, 8, 9, std::array{8.99, 9.01}),
               sent({"shm", "tcp"}, 8, 9.2, std::array{9.19, 9.21})};
  EXPECT_EQ(answers_of(Judged(run)),
            Lines{"fastest: pingpong, bandwidth of 8 B: shm (9.00 GB/s, 95% CI 8.99..9.01) and "
                  "shm+tcp (9.20 GB/s, 95% CI 9.19..9.21) differ by at most 3 %"});
  // With what carried them, and their labels.
  run.cases[0].path["carried_by"] = {{"posix", 1.0}};
  run.machine["labels"] = {"vm"};
  const auto line = answers_of(Judged(run)).at(0);
  EXPECT_NE(line.find("shm (9.00 GB/s, 95% CI 8.99..9.01, by posix)"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with("; labels: vm")) << line;
}

TEST(Answers, CallNothingFasterWhoseIntervalsOverlap) {
  Result run;
  run.cases = {sent({"tcp"}, 8, 1, std::nullopt), sent({"shm"}, 8, 9, std::nullopt),
               sent({"tcp"}, 1024, 4.5, std::array{4.0, 6.0}),
               sent({"shm"}, 1024, 5, std::array{4.8, 5.2})};
  EXPECT_EQ(answers_of(Judged(run)),
            Lines{"fastest: pingpong, bandwidth of 1 KiB: no difference found between shm (5.00 "
                  "GB/s, 95% CI 4.80..5.20) and tcp (4.50 GB/s, 95% CI 4.00..6.00): their "
                  "launches allow either to be faster"});
  run.cases.resize(2);
  EXPECT_EQ(answers_of(Judged(run)),
            Lines{"fastest: pingpong, bandwidth of 8 B: no difference found between shm (9.00 "
                  "GB/s) and tcp (1.00 GB/s): no interval from fewer than six launches"});
  run.cases.resize(1);
  EXPECT_EQ(answers_of(Judged(run)), Lines{});
}

}  // namespace
}  // namespace ucxbench
