#include "harness/result/labels.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using Texts = std::vector<std::string>;

Result run_with(const Json& device) {
  Result run;
  run.machine["labels"] = {"vm", "oversubscribed"};
  run.ranks = {{{"rank", 0}, {"device", device}}, {{"rank", 1}, {"device", device}}};
  run.cases.resize(2);
  run.cases[0].labels = {"same-gpu", "emulated-gpu"};
  return run;
}

TEST(Labels, OfACaseAreThoseOfItsMachineToo) {
  const auto run = run_with({{"mps", true}});
  EXPECT_EQ(labels_of(run, run.cases[0]),
            (Texts{"vm", "oversubscribed", "same-gpu", "emulated-gpu"}));
  EXPECT_EQ(labels_of(run, run.cases[1]), (Texts{"vm", "oversubscribed"}));
  EXPECT_EQ(labels_of(run), labels_of(run, run.cases[0]));
}

TEST(Labels, OfAnOlderFileSayThatRanksOnOneGpuTakeTurns) {
  auto older = run_with({{"index", 0}});
  add_labels_of_older(older);
  EXPECT_TRUE(is_time_sliced(older.cases[0]));
  EXPECT_FALSE(is_time_sliced(older.cases[1])) << "of different GPUs, or of the host";
  for (const Json& mps : {Json(true), Json(nullptr)}) {
    auto newer = run_with({{"mps", mps}});
    add_labels_of_older(newer);
    EXPECT_FALSE(is_time_sliced(newer.cases[0])) << "it says so itself";
  }
}

TEST(Labels, AreFoundInALaunchAndInACase) {
  EXPECT_TRUE(has_label(Json{{"labels", {"interrupted"}}}, Label::interrupted));
  EXPECT_FALSE(has_label(Json::object(), Label::interrupted));
  EXPECT_EQ(to_string(Label::soft_roce), "soft-roce");
}

}  // namespace
}  // namespace ucxbench
