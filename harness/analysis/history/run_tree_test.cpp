#include "harness/analysis/history/run_tree.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/history/lines.hpp"
#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

Result night(int number, const std::string& unit = "us") {
  const auto day = "2025-01-0" + std::to_string(number);
  Result run;
  run.run = {{"id", day},
             {"started_utc", day + "T00:00:00Z"},
             {"finished_utc", day + "T00:01:00Z"},
             {"state", "complete"},
             {"command", {"ucx-bench", "pingpong"}}};
  run.build = {{"commit", "0123456789abcdef"}, {"dirty", false}};
  run.machine = {{"id", "box"}, {"hosts", Json::array()}, {"labels", {"vm"}}};
  run.ucx = {{"version", "1.13.1"}, {"environment", Json::object()}};
  Case of{.key = "pingpong/8B", .benchmark = "pingpong", .state = CaseState::measured};
  of.parameters = {{"bytes", 8}};
  of.shows.metrics = {{"latency", "latency", "latency", unit, "lower"}};
  of.metrics["latency"] = {.quantiles = {.count = 6, .p50 = 10.0 + number},
                           .better = "lower",
                           .launch_medians = {10, 11, 12}};
  run.cases.push_back(of);
  return run;
}

class RunTrees : public FolderLikeSys {
 protected:
  RunTrees() {
    for (const int number : {1, 2, 3}) write_night(night(number));
  }
  void write_night(const Result& run) const {
    write(run.run.at("id").get<std::string>() + ".json", run_text(run));
  }
  std::vector<std::string> left_out() const {
    std::vector<std::string> lines;
    for (const auto& [file, why] : read_tree(root_).left_out) lines.push_back(file + " " + why);
    return lines;
  }
};

TEST_F(RunTrees, AnIndexSavesReading) {
  auto tree = read_tree(root_);
  EXPECT_EQ(tree.read, 3U);
  tree.files.begin()->second.verdicts["2025-01-03"] = "=";
  tree.files.begin()->second.itself = SelfComparison{4, 1, 0, 0.005};
  tree.save();
  const auto again = read_tree(root_);
  EXPECT_EQ(again.read, 0U);
  ASSERT_EQ(again.runs.size(), 3U);
  const auto& first = again.runs.front();
  EXPECT_EQ(first.record().started, "2025-01-01T00:00:00Z");
  EXPECT_EQ(first.place.what, "pingpong");
  EXPECT_EQ(first.entry->verdicts.at("2025-01-03"), "=");
  EXPECT_EQ(first.entry->itself->below, 1U);
  const auto& value = first.record().find("pingpong/8B")->values.at("latency");
  EXPECT_EQ(value.median, 11);
  EXPECT_EQ((*value.interval)[1], 12);
  EXPECT_EQ(first.record().label_of("pingpong/8B", "latency")->unit, "us");
  std::filesystem::last_write_time(root_ / "2025-01-02.json", {});
  EXPECT_EQ(read_tree(root_).read, 1U);
}

TEST_F(RunTrees, ADamagedIndexIsMadeAnew) {
  read_tree(root_).save();
  const auto index = text_of(root_ / RunTree::index_name);
  for (const std::string broken : {"{", "[]", R"({"version": 0, "files": {}})"}) {
    write(RunTree::index_name, broken);
    EXPECT_EQ(read_tree(root_).read, 3U) << broken;
  }
  for (std::size_t at = 0; at < index.size(); at += 97) {
    for (const char* other : {"", "null", "-1", "\"\\ud800\""}) {
      auto spoiled = index;
      spoiled.replace(at, 3, other);
      write(RunTree::index_name, spoiled);
      const auto tree = read_tree(root_);
      for (const auto& run : tree.runs) EXPECT_GT(run.seconds, 0);
    }
  }
}

TEST_F(RunTrees, WhatCannotBeUsedIsNamed) {
  write("2025-01-02.json", run_text(night(2)).substr(0, 500));
  auto later = night(4);
  later.run["started_utc"] = "2999-01-01T00:00:00Z";
  later.run["finished_utc"] = nullptr;
  write_night(later);
  auto backwards = night(5);
  backwards.run["finished_utc"] = "2024-01-01T00:00:00Z";
  write_night(backwards);
  write("6.json", run_text(night(3)));
  auto newer = run_text(night(7));
  newer.replace(newer.find("run/1"), 5, "run/2");
  write("7.json", newer);
  auto nothing = night(8);
  nothing.cases[0].metrics["latency"].quantiles.p50 = 0;
  write_night(nothing);
  write("machine.json", R"({"schema": "ucx-bench/machine/1"})");
  write("list.json", "[1]");
  const std::vector<std::string> expected = {
      "2025-01-02.json is not whole JSON",
      "2025-01-04.json its clock is wrong: it began 2999",
      "2025-01-05.json its clock went backwards",
      "6.json has the run id 2025-01-03 of",
      "7.json was made by a newer ucx-bench",
      "2025-01-08.json pingpong/8B latency: 0 is no measured value; it is left out",
      "list.json is not a ucx-bench run"};
  const auto lines = left_out();
  EXPECT_EQ(lines.size(), expected.size());
  for (const auto& begin : expected) {
    EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
      return line.starts_with(begin);
    })) << begin;
  }
}

TEST_F(RunTrees, AUnitThatChangedIsLeftOut) {
  write_night(night(2, "ms"));
  auto tree = read_tree(root_);
  const auto streams = streams_of(tree);
  ASSERT_EQ(streams.size(), 1U);
  const auto lines = lines_of(streams[0], tree.left_out);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].values[0] && !lines[0].values[1] && lines[0].values[2]);
  ASSERT_EQ(tree.left_out.size(), 1U);
  EXPECT_EQ(tree.left_out[0].second,
            "the unit changed: pingpong/8B latency in ms, not us; these values are left out");
}

TEST_F(RunTrees, WhatNoMachineGivesIsAGap) {
  auto run = night(2);
  LaunchRecord record;
  record.samples["latency"].quantiles = {.count = 1, .min = -1, .p50 = 1, .max = 1};
  run.cases[0].launches = {record};
  write_night(run);
  auto tree = read_tree(root_);
  const auto lines = lines_of(streams_of(tree).at(0), tree.left_out);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].values[0] && !lines[0].values[1] && lines[0].values[2]);
  EXPECT_TRUE(lines[0].notes.at(1).starts_with("impossible, latency of 0->1 is -1"))
      << lines[0].notes.at(1);
}

}  // namespace
}  // namespace ucxbench
