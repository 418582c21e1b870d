#include "bench/cli/commands/gate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

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
    of.path = {{"carried_by", carried_by}, {"why", "as its counters say"}};
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
  EXPECT_EQ(check(),
            Outcome(Exit::gate,
                    "ucx-bench: --require nvlink: case 1: 50 % of the bytes went by nvlink "
                    "(as its counters say)\n"
                    "ucx-bench: --require nvlink: case 2: cannot tell what carried it: as "
                    "its counters say\n"));
}

TEST_F(TheGate, TakesACopyInsideOneGpuOnlyWhereThatIsAllowed) {
  result_.cases[0].labels = {"same-gpu"};
  EXPECT_EQ(check().first, Exit::gate);
  plans_[0].allow_same_gpu = true;
  EXPECT_EQ(check().first, Exit::done);
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
