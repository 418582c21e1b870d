#include "workloads/common/record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace ucxbench {
namespace {

constexpr double step_ns = 1;

RankFacts rank_with(const Iteration& iteration) {
  RankFacts facts;
  facts.iterations = {iteration};
  return facts;
}

// Each rank receives in two phases, one of them more than the other rank.
TEST(Record, HasRatesOfPhasesThatExchangeApart) {
  constexpr std::array<std::string_view, 2> phases = {"there", "back"};
  const std::vector<RankFacts> ranks = {
      rank_with({.wall_ns = 3000, .phase_ns = {1000, 2000}, .phase_bytes = {9000, 4000}}),
      rank_with({.wall_ns = 3000, .phase_ns = {500, 1000}, .phase_bytes = {3000, 4000}})};
  const auto record = make_record(ranks, phases, 24'000, {}, step_ns, "UCX");
  EXPECT_DOUBLE_EQ(record.samples.at("there_GBps").values.at(0), 12);
  EXPECT_DOUBLE_EQ(record.samples.at("back_GBps").values.at(0), 4);
  const auto& there = record.workload.at("phases").at(0);
  EXPECT_EQ(there.at("name"), "there");
  EXPECT_DOUBLE_EQ(there.at("ingress_imbalance").get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(record.workload.at("phases").at(1).at("ingress_imbalance").get<double>(), 1);
  // They do nothing else.
  EXPECT_DOUBLE_EQ(record.workload.at("exchange").at("exposed_ms").get<double>(), 3e-3);
}

TEST(Record, HasNoneOfPhasesThatDoNotSay) {
  constexpr std::array<std::string_view, 2> phases = {"pack", "shuffle"};
  const std::vector<RankFacts> ranks = {
      rank_with({.wall_ns = 3000, .phase_ns = {1000, 2000}, .received_bytes = 1000})};
  const auto record = make_record(ranks, phases, 24'000, {}, step_ns, "UCX");
  EXPECT_FALSE(record.samples.contains("shuffle_GBps"));
  EXPECT_FALSE(record.workload.at("phases").at(1).contains("ingress_imbalance"));
  EXPECT_DOUBLE_EQ(record.workload.at("exchange").at("exposed_ms").get<double>(), 2e-3);
}

}  // namespace
}  // namespace ucxbench
