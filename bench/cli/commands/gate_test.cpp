#include "bench/cli/commands/gate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "harness/result/paths.hpp"

namespace ucxbench {
namespace {

class TheGate : public testing::Test {
 protected:
  TheGate() {
    plans_.resize(1);
    plans_[0].require = TransportSet::parse("nvlink");
    add({{"nvlink", 0.995}, {"tcp", 0.005}});
  }

  void add(const Json& carried_by) {
    Case of;
    of.key = "case " + std::to_string(result_.cases.size());
    of.state = CaseState::measured;
    of.path = {{"carried_by", carried_by},
               {"medium", "nvlink"},
               {"medium_proof", "path-class"},
               {"why", "as its counters say"}};
    plans_[0].cases.push_back(result_.cases.size());
    result_.cases.push_back(std::move(of));
  }

  std::pair<Exit, std::string> check() const {
    testing::internal::CaptureStderr();
    const auto exit = check_required(result_, plans_);
    return {exit, testing::internal::GetCapturedStderr()};
  }

  using Outcome = std::pair<Exit, std::string>;

  Result result_;
  std::vector<LaunchPlan> plans_;
};

TEST_F(TheGate, OpensForNearlyAllOfThePayload) { EXPECT_EQ(check(), Outcome(Exit::done, "")); }

TEST_F(TheGate, NamesEachCaseThatOthersCarried) {
  add({{"nvlink", 0.5}, {"tcp", 0.5}});
  add(Json::object());
  EXPECT_EQ(
      check(),
      Outcome(Exit::gate,
              "ucx-bench: --require nvlink: case 1: 50 % of the bytes went by nvlink, cuda_ipc "
              "over NVLink 50 %, tcp 50 % carried them (as its counters say) "
              "[too-little]\n"
              "ucx-bench: --require nvlink: case 2: cannot tell what carried it: as "
              "its counters say [not-known]\n"));
}

TEST_F(TheGate, ClosesForOnePairAmongMany) {
  auto& of = result_.cases[0];
  of.parameters = {{"transports", {"shm", "tcp"}}};
  for (int pair = 1; pair <= 200; ++pair) {
    LaunchRecord record{.src = 0, .dst = pair};
    record.path = {{"carried_by", {{pair == 7 ? "tcp" : "shm", 1.0}}},
                   {"verdict", "as-asked"},
                   {"why", "as its counters say"}};
    of.launches.push_back(std::move(record));
  }
  summarize(of);
  sum_paths(of);
  plans_[0].require = TransportSet::parse("shm");
  EXPECT_EQ(check(),
            Outcome(Exit::gate,
                    "ucx-bench: --require shm: case 0: 1 of 200 pairs, the first 0->7: 0 % of the "
                    "bytes went by shm, tcp carried them (as its counters say) [too-little]\n"));
}

TEST_F(TheGate, TakesACopyInsideOneGpuOnlyWhereThatIsAllowed) {
  result_.cases[0].path["medium"] = "same-gpu";
  EXPECT_EQ(check().first, Exit::gate);
  plans_[0].allow_same_gpu = true;
  EXPECT_EQ(check().first, Exit::done);
}

TEST_F(TheGate, TakesNoOtherMediumForNvlink) {
  using Words = std::pair<const char*, const char*>;
  for (const auto& [medium, words] :
       {Words("pcie", "over PCIe"), Words("unknown", "say over what")}) {
    result_.cases[0].path["medium"] = medium;
    const auto [exit, said] = check();
    EXPECT_EQ(exit, Exit::gate);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }
  result_.cases[0].path["medium_proof"] = "contradicted";
  EXPECT_NE(check().second.find("[counters-deny]"), std::string::npos);
}

TEST_F(TheGate, LooksOnlyAtWhatWasMeasuredAndAsked) {
  add({{"tcp", 1.0}});
  result_.cases[1].state = CaseState::skipped;
  EXPECT_EQ(check().first, Exit::done);
  result_.cases[1].state = CaseState::measured;
  EXPECT_EQ(check().first, Exit::gate);
  plans_[0].require.reset();
  EXPECT_EQ(check().first, Exit::done);
}

}  // namespace
}  // namespace ucxbench
