#include "harness/result/paths.hpp"

#include <gtest/gtest.h>

#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

using Shares = std::map<std::string, double>;

/// What is asked for is shared memory and TCP, or one of them.
class Paths : public testing::Test {
 protected:
  explicit Paths(const std::vector<std::string>& asked = {"shm", "tcp"}) {
    of_.state = CaseState::measured;
    of_.parameters = {{"transports", asked}};
    of_.shows.kind = ViewKind::matrix;
  }

  void launch(int src, int dst, const Shares& carried, std::uint64_t messages = 10) {
    LaunchRecord record{.launch = static_cast<int>(of_.launches.size()), .src = src, .dst = dst};
    record.messages = messages;
    const auto asked = of_.parameters.at("transports").get<std::vector<std::string>>();
    record.path = {{"verdict", name_of(path_verdicts, verdict_of(asked, carried))},
                   {"carried_by", carried},
                   {"why", "as counted"}};
    of_.launches.push_back(std::move(record));
  }

  const Json& sum() {
    summarize(of_);
    sum_paths(of_);
    return of_.path;
  }

  Case of_;
};

class PathsOfShm : public Paths {
 protected:
  PathsOfShm() : Paths({"shm"}) {}
};

TEST_F(Paths, OfPairsAddUpByTheirBytes) {
  launch(0, 1, {{"shm", 1.0}}, 10);
  launch(0, 2, {{"tcp", 1.0}}, 30);
  EXPECT_EQ(carried_by(sum()), (Shares{{"shm", 0.25}, {"tcp", 0.75}}));
  EXPECT_EQ(verdict_in(of_.path), PathVerdict::as_asked);
  EXPECT_EQ(carriers_in_words(of_.path), "shm 25 %, tcp 75 %");
  EXPECT_EQ(carried_by(of_.pairs.at(0)), (Shares{{"shm", 1.0}}));
  EXPECT_EQ(carried_by(of_.pairs.at(1)), (Shares{{"tcp", 1.0}}));
  EXPECT_TRUE(of_.path.at("why").get<std::string>().starts_with("launches or pairs differ"));
}

TEST_F(Paths, OfLaunchesAddUp) {
  for (const auto* member : {"shm", "shm", "tcp", "shm"}) launch(0, 1, {{member, 1.0}});
  EXPECT_EQ(carried_by(sum()), (Shares{{"shm", 0.75}, {"tcp", 0.25}}));
  EXPECT_EQ(carried_by(of_.pairs.at(0)), carried_by(of_.path));
}

TEST_F(Paths, ThatAreAlikeStayAsTheyAre) {
  for (int launch_of = 0; launch_of < 3; ++launch_of) launch(0, 1, {{"tcp", 1.0}}, 7);
  EXPECT_EQ(carried_by(sum()), (Shares{{"tcp", 1.0}}));
  EXPECT_EQ(of_.path.at("why"), "as counted");
}

TEST_F(Paths, OfCountersAddUp) {
  launch(0, 1, {{"tcp", 1.0}});
  launch(0, 2, {{"tcp", 1.0}});
  for (auto& record : of_.launches) {
    record.path["payload_bytes"] = 100U;
    record.path["bytes_by_counter"] = {{"tcp/lo", 104U}};
  }
  EXPECT_EQ(sum().at("payload_bytes"), 200);
  EXPECT_EQ(of_.path.at("bytes_by_counter").at("tcp/lo"), 208);
}

TEST_F(PathsOfShm, AreAsAskedOnlyWhereAllAre) {
  for (int pair = 1; pair < 100; ++pair) launch(0, pair, {{"shm", 1.0}});
  EXPECT_EQ(verdict_in(sum()), PathVerdict::as_asked);
  launch(1, 0, {{"tcp", 1.0}});
  EXPECT_EQ(verdict_in(sum()), PathVerdict::partly) << "one of a hundred pairs";
  EXPECT_EQ(verdict_in(paths_of_pairs(of_).at({1, 0})), PathVerdict::other);
  for (auto& record : of_.launches) record = of_.launches.back();
  EXPECT_EQ(verdict_in(sum()), PathVerdict::other);
}

TEST_F(PathsOfShm, ThatAreNotKnownAreNotGuessed) {
  launch(0, 1, {{"shm", 1.0}});
  launch(0, 2, {});
  EXPECT_EQ(verdict_in(sum()), PathVerdict::unknown);
  EXPECT_TRUE(carried_by(of_.path).empty());
  launch(1, 2, {{"tcp", 1.0}}, 20);
  EXPECT_EQ(verdict_in(sum()), PathVerdict::partly);
  EXPECT_EQ(carriers_in_words(of_.path), "shm 25 %, tcp 50 %, unknown 25 %");
  EXPECT_EQ(unmet_by({"tcp", "shm"}, of_.path, std::nullopt), Unmet::not_known);
  EXPECT_EQ(unmet_by({"tcp"}, of_.path, std::nullopt), Unmet::too_little);
  // What nobody looked at and what was ended before takes nothing away.
  of_.launches.resize(1);
  launch(0, 1, {});
  of_.launches.back().path["labels"] = {to_string(Label::interrupted)};
  of_.launches.push_back({.launch = 2});
  EXPECT_EQ(carried_by(sum()), (Shares{{"shm", 1.0}}));
  EXPECT_EQ(of_.labels, std::vector<std::string>{to_string(Label::interrupted)});
}

TEST_F(Paths, OfAWorkloadAreThoseOfAllItsRanks) {
  of_.shows.kind = ViewKind::workload;
  of_.shows.ranks = 4;
  launch(0, 1, {{"shm", 0.5}, {"tcp", 0.5}});
  EXPECT_EQ(carried_by(sum()), (Shares{{"shm", 0.5}, {"tcp", 0.5}}));
  for (const auto& pair : of_.pairs) EXPECT_FALSE(pair.contains("carried_by"));
}

}  // namespace
}  // namespace ucxbench
