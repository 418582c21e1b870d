#include "harness/analysis/comparison/streams.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Result dated(const std::vector<std::string>& options, const std::string& driver = "") {
  std::vector<std::string> command = {"ucx-bench", "pingpong"};
  command.insert(command.end(), options.begin(), options.end());
  Result result;
  result.run = {{"command", command}, {"tags", {{"branch", "main"}}}};
  result.machine = {{"id", "box"}};
  result.ucx = {{"version", "1.13.1"}};
  if (!driver.empty()) result.ranks = {{{"rank", 0}, {"device", {{"driver", driver}}}}};
  return result;
}

std::vector<std::size_t> segments_of(const std::vector<Result>& runs) {
  std::vector<std::size_t> segments;
  for (const auto& place : places_in_streams(runs)) segments.push_back(place.segment);
  return segments;
}

TEST(Streams, AreOfWhatWasAsked) {
  const std::vector<Result> runs = {dated({"--transports", "tcp"}), dated({"--transports", "shm"}),
                                    dated({"--transports=tcp", "--json", "x.json"})};
  const auto places = places_in_streams(runs);
  EXPECT_EQ(places[0].what, "pingpong --transports tcp");
  EXPECT_EQ(places[1].what, "pingpong --transports shm");
  EXPECT_EQ(places[2].what, places[0].what);
  EXPECT_EQ(places[0].branch, "main");
  EXPECT_TRUE(places[2].differs.empty());
}

TEST(Streams, BothSidesOfAnAbAreStreams) {
  auto base = dated({});
  base.run["command"] = {"ucx-bench", "ab", "ci/suite.toml"};
  auto now = base;
  base.run["ab"]["side"] = "base";
  now.run["ab"]["side"] = "new";
  now.ucx["version"] = "1.14.0";
  const std::vector<Result> runs = {base, now, base, now};
  const auto places = places_in_streams(runs);
  EXPECT_EQ(places[0].what, places[1].what);
  EXPECT_EQ(places[0].side, "base");
  EXPECT_EQ(places[1].side, "new");
  // What one side has is no change of the other.
  for (const auto& place : places) EXPECT_TRUE(place.segment == 0 && place.differs.empty());
}

TEST(Streams, WhatARunDoesNotKnowEndsNoSegment) {
  EXPECT_EQ(segments_of({dated({}), dated({}, "535.1"), dated({}), dated({}, "535.9")}),
            (std::vector<std::size_t>{0, 0, 0, 0}));
  // The run between them does not know which driver it had; the segment does.
  EXPECT_EQ(segments_of(
                {dated({}, "535.1"), dated({}), dated({}, "550.1"), dated({}), dated({}, "550.2")}),
            (std::vector<std::size_t>{0, 0, 1, 1, 1}));
}

TEST(Streams, AnEnvironmentThatReturnsIsTheSameSegment) {
  EXPECT_EQ(segments_of({dated({}, "535.1"), dated({}, "550.1"), dated({}, "535.2"),
                         dated({}, "560.1"), dated({}, "550.3"), dated({}, "535.1")}),
            (std::vector<std::size_t>{0, 1, 0, 2, 1, 0}));
}

TEST(Streams, SayWhatDiffersFromTheRunBefore) {
  const std::vector<Result> runs = {dated({}, "535.1"), dated({}, "550.1")};
  EXPECT_EQ(places_in_streams(runs)[1].differs, std::vector<std::string>{"driver 535.1 -> 550.1"});
}

}  // namespace
}  // namespace ucxbench
