#include "harness/run/runner.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/core/folder_for_test.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/tournament.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

using State = LaunchOutcome::State;

class Silent : public RunObserver {
 public:
  void launch_begins(const LaunchPlan&, int, int) override {}
  void case_done(const Case&, std::size_t done, std::size_t total) override {
    last_ = std::to_string(done) + "/" + std::to_string(total);
  }
  void cannot_run(const LaunchPlan& plan) override { skipped_.push_back(plan.name); }

  std::string last_;
  std::vector<std::string> skipped_;
};

/// Three plans of one case each, whose launches are played.
class Runs : public FolderLikeSys {
 protected:
  Runs() {
    for (const auto* name : {"A", "B", "C"}) {
      LaunchPlan plan;
      plan.name = name;
      plan.benchmark = "played";
      plan.set = TransportSet::parse("tcp");
      plan.cases = {result_.cases.size()};
      plans_.push_back(std::move(plan));
      Case planned;
      planned.key = name;
      planned.parameters = Json::object();
      result_.cases.push_back(std::move(planned));
    }
    result_.run = {{"id", "a run"}, {"state", "interrupted"}, {"reason", ""}};
    result_.file = root_ / "run.json";
    schedule_.launches = 3;
  }

  Exit run() {
    RunFile file(result_, [](const std::string&) {});
    return measure(
        result_, plans_, schedule_, file, [this](const Launch& launch) { return play(launch); },
        observer_);
  }

  LaunchOutcome play(const Launch& launch) {
    const auto told = from_bytes(launch.preset.at("plan"));
    const auto index = told.at("cases").at(0).at("index").get<std::size_t>();
    const auto number = told.at("launch").get<int>();
    const auto name = plans_[index].name + std::to_string(number);
    order_ += order_.empty() ? name : " " + name;
    if (const auto given = outcomes_.find(name); given != outcomes_.end()) return given->second;
    LaunchRecord record{.launch = number};
    record.samples["bandwidth_GBps"].quantiles = quantiles_of({2.0});
    const Json report = {{"index", index},  {"records", {launch_to_json(record)}},
                         {"checked", 1},    {"errors", error_.empty() ? 0 : 1},
                         {"error", error_}, {"peak_buffer_bytes", 0}};
    launch.on_report(0, "report/case/" + std::to_string(index) + "/0-1", to_bytes(report));
    return {};
  }

  std::string reason(std::size_t index) const { return result_.cases[index].reason; }

  Result result_;
  std::vector<LaunchPlan> plans_;
  Schedule schedule_;
  Silent observer_;
  std::map<std::string, LaunchOutcome> outcomes_;  ///< by "A0"; else it completes
  std::string error_;
  std::string order_;
};

TEST_F(Runs, TurnTheirOrderRound) {
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "A0 B0 C0 C1 B1 A1 A2 B2 C2");
  EXPECT_EQ(observer_.last_, "9/9");
  const auto written = read_result(root_ / "run.json");
  EXPECT_EQ(written.run.at("state"), "complete");
  for (const auto& of : written.cases) {
    EXPECT_EQ(of.state, CaseState::measured);
    EXPECT_EQ(of.launches.size(), 3U);
  }
}

TEST_F(Runs, OfOneLaunchKeepItsOrderAndNumber) {
  schedule_.only_launch = 1;
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "C1 B1 A1");
  EXPECT_EQ(observer_.last_, "3/3");
  EXPECT_EQ(result_.cases[0].launches.at(0).launch, 1);
}

TEST_F(Runs, EndWithMaxTime) {
  schedule_.max_time = std::chrono::nanoseconds(0);
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "A0");
  EXPECT_EQ(result_.cases[1].skip_cause, SkipCause::no_time);
  EXPECT_EQ(reason(1), "max_time, 0ns, was over before its first launch");
  EXPECT_EQ(result_.run.at("left_out"),
            "0ns was too short for all launches: A has 1 of 3; B has 0 of 3; C has 0 of 3");
  EXPECT_EQ(result_.run.at("state"), "complete");
}

TEST_F(Runs, GoOnWithoutAPlanThatCannotRun) {
  plans_[0].unavailable = "no such device";
  outcomes_["B0"] = {State::failed, Exit::cannot_run, "not here after all"};
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "B0 C0 C1 C2");
  EXPECT_EQ(observer_.skipped_, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(reason(0), "no such device");
  EXPECT_EQ(reason(1), "not here after all");
  EXPECT_EQ(result_.cases[1].state, CaseState::skipped);
}

TEST_F(Runs, FailWhereAPlanMustRun) {
  plans_[0].unavailable = "no such device";
  plans_[0].strict = true;
  EXPECT_EQ(run(), Exit::cannot_run);
  EXPECT_EQ(order_, "B0 C0 C1 B1 B2 C2");
}

TEST_F(Runs, FailWhereNothingRuns) {
  for (auto& plan : plans_) plan.unavailable = "no such device";
  EXPECT_EQ(run(), Exit::cannot_run);
  EXPECT_EQ(order_, "");
}

TEST_F(Runs, LoseAPlanThatRanBefore) {
  outcomes_["B1"] = {State::failed, Exit::cannot_run, "the port is down"};
  EXPECT_EQ(run(), Exit::lost);
  EXPECT_EQ(order_, "A0 B0 C0 C1 B1");
  EXPECT_EQ(result_.run.at("state"), "failed");
  EXPECT_EQ(result_.run.at("reason"),
            "B no longer runs between ranks 0 and 1, after 1 launch of it: the port is down");
  EXPECT_EQ(result_.cases[0].state, CaseState::measured);
  EXPECT_EQ(result_.cases[1].state, CaseState::measured);
  EXPECT_EQ(result_.cases[1].launches.size(), 1U);
}

TEST_F(Runs, GoOnAfterRanksThatDidNotReachEachOther) {
  outcomes_["B0"] = {.state = State::failed,
                     .exit = Exit::lost,
                     .reason = "rank 1 made no progress",
                     .unreached = {1, 2}};
  schedule_.goes_on = true;
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "A0 B0 C0 C1 A1 A2 C2");
  EXPECT_EQ(result_.run.at("state"), "failed");
  EXPECT_EQ(reason(1), "rank 1 made no progress");
  EXPECT_EQ(result_.cases[1].state, CaseState::failed);
  const auto& lost = result_.run.at("lost_launches").at(0);
  EXPECT_EQ(lost.at("cases"), Json::array({"B"}));
  EXPECT_EQ(lost.at("ranks"), (Json{1, 2}));
}

TEST_F(Runs, EndWithAHostThatIsLost) {
  outcomes_["B0"] = {.state = State::failed,
                     .exit = Exit::lost,
                     .reason = "nothing was heard from node1",
                     .unreached = {1},
                     .host_lost = true};
  schedule_.goes_on = true;
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "A0 B0");
  EXPECT_EQ(result_.cases[2].state, CaseState::skipped);
}

// Of four ranks 1 and 2 do not reach each other: the turns after theirs are played by a launch of
// its own.
TEST_F(Runs, PlayTheTurnsAfterThatOfALostPair) {
  plans_.resize(1);
  result_.cases.resize(1);
  plans_[0].ranks = 4;
  result_.cases[0].parameters["pairs"] = "every";
  schedule_.goes_on = true;
  std::set<std::pair<int, int>> met;
  std::vector<std::size_t> began;
  const auto play_turns = [&](const Launch& launch) -> LaunchOutcome {
    began.push_back(from_bytes(launch.preset.at("plan")).at("first_turn").get<std::size_t>());
    for (auto turn = began.back(); turn < 3; ++turn) {
      bool lost = false;
      for (int rank = 0; rank < 4; ++rank) {
        const auto meeting = tournament(4, rank).at(turn);
        if (!meeting.sends_first) continue;
        const std::pair<int, int> pair = std::minmax(rank, meeting.partner);
        if (pair == std::pair(1, 2)) {
          lost = true;
          continue;
        }
        met.insert(pair);
        LaunchRecord record{.src = rank, .dst = meeting.partner};
        record.samples["latency_us"].quantiles = quantiles_of({2.0});
        const Json report = {{"index", 0},   {"records", {launch_to_json(record)}},
                             {"checked", 1}, {"errors", 0},
                             {"error", ""},  {"peak_buffer_bytes", 0}};
        launch.on_report(rank, "report/case/0/" + std::to_string(rank), to_bytes(report));
      }
      if (lost) {
        return {.state = State::failed,
                .exit = Exit::lost,
                .reason = "rank 1 made no progress",
                .unreached = {1, 2}};
      }
    }
    return {};
  };
  RunFile file(result_, [](const std::string&) {});
  EXPECT_EQ(measure(result_, plans_, schedule_, file, play_turns, observer_), Exit::done);
  EXPECT_EQ(met.size(), 5U);
  EXPECT_EQ(began, (std::vector<std::size_t>{0, 1}));  // they meet in the first turn
  EXPECT_EQ(result_.run.at("lost_launches").size(), 1U);
}

TEST_F(Runs, EndWithALaunchThatFails) {
  outcomes_["B0"] = {State::failed, Exit::lost, "rank 1 was killed"};
  EXPECT_EQ(run(), Exit::lost);
  EXPECT_EQ(order_, "A0 B0");
  EXPECT_EQ(result_.cases[0].state, CaseState::measured);
  EXPECT_EQ(result_.cases[1].state, CaseState::failed);
  EXPECT_EQ(reason(1), "rank 1 was killed");
  EXPECT_EQ(result_.cases[2].state, CaseState::skipped);
  EXPECT_EQ(result_.cases[2].skip_cause, SkipCause::run_ended);
  EXPECT_EQ(reason(2), "the run ended before it was measured");
}

TEST_F(Runs, OfTwoMachinesGoOnWithoutWhatTheOtherCannot) {
  plans_[0].launch.told = {{{"set", "tcp"}}};
  outcomes_["A0"] = {State::failed, Exit::cannot_run, "no such device there"};
  EXPECT_EQ(run(), Exit::done);
  EXPECT_EQ(order_, "A0 B0 C0 C1 B1 B2 C2");
  EXPECT_EQ(result_.run.at("state"), "complete");
  EXPECT_EQ(result_.cases[0].state, CaseState::skipped);
  EXPECT_EQ(result_.cases[0].skip_cause, SkipCause::unavailable);
  EXPECT_EQ(reason(0), "no such device there");
}

TEST_F(Runs, KeepWhatWasMeasuredWhenInterrupted) {
  outcomes_["C0"] = {State::interrupted, Exit::interrupted, "stopped by Ctrl-C"};
  EXPECT_EQ(run(), Exit::interrupted);
  const auto written = read_result(root_ / "run.json");
  EXPECT_EQ(written.run.at("state"), "interrupted");
  EXPECT_EQ(written.cases[1].state, CaseState::measured);
  EXPECT_EQ(written.cases[2].reason, "the run ended before it was measured");
}

TEST_F(Runs, SayThatDataWereWrong) {
  error_ = "byte 7 is wrong";
  EXPECT_EQ(run(), Exit::wrong_data);
  EXPECT_EQ(result_.cases[0].state, CaseState::failed);
  EXPECT_EQ(result_.run.at("state"), "complete");
}

}  // namespace
}  // namespace ucxbench
