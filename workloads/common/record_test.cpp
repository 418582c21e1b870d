#include "workloads/common/record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
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
  constexpr std::array<Phase, 2> phases = {
      {{"there", PhaseKind::exchanging}, {"back", PhaseKind::exchanging}}};
  const std::vector<RankFacts> ranks = {rank_with({.wall_ns = 3000,
                                                   .phase_ns = {1000, 2000},
                                                   .phase_bytes = {9000, 4000},
                                                   .phase_when = {{100, 1100}, {1100, 3100}}}),
                                        rank_with({.wall_ns = 3000,
                                                   .phase_ns = {500, 1000},
                                                   .phase_bytes = {3000, 4000},
                                                   .phase_when = {{200, 700}, {1100, 2100}}})};
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

// The second rank begins when the first has ended. Each one's own times are half of what both took.
TEST(Record, HasRatesOfTheTimeThatAllRanksTook) {
  constexpr std::array<Phase, 1> phases = {{{"there", PhaseKind::exchanging}}};
  const auto rank_from = [](std::uint64_t began_ns, const char* clock, Met met) {
    auto facts =
        rank_with({.met = met,
                   .began_ns = began_ns,
                   .wall_ns = 1000,
                   .phase_ns = {1000},
                   .carried = {{{began_ns, began_ns + 200}, {began_ns + 300, began_ns + 500}}},
                   .received_bytes = 4000,
                   .phase_bytes = {4000},
                   .phase_when = {{began_ns, began_ns + 1000}}});
    facts.clock = clock;
    return parse_rank_facts(to_json(facts));
  };
  const auto record = [&](const std::vector<RankFacts>& ranks) {
    return make_record(ranks, phases, 24'000, {}, step_ns, "UCX").samples;
  };
  const auto value = [](const auto& samples, const char* name) {
    return samples.at(name).values.at(0);
  };
  const auto one_by_one = record({rank_from(5000, "a", {}), rank_from(6000, "a", {})});
  EXPECT_DOUBLE_EQ(value(one_by_one, "wall_ms"), 2e-3);
  EXPECT_DOUBLE_EQ(value(one_by_one, "throughput_GBps"), 12);
  EXPECT_DOUBLE_EQ(value(one_by_one, "exchange_GBps"), 10) << "a message is under way for 800 ns";
  EXPECT_DOUBLE_EQ(value(one_by_one, "there_GBps"), 4);
  const auto at_once = record({rank_from(5000, "a", {}), rank_from(5000, "a", {})});
  EXPECT_DOUBLE_EQ(value(at_once, "wall_ms"), 1e-3);
  EXPECT_DOUBLE_EQ(value(at_once, "throughput_GBps"), 24);
  EXPECT_DOUBLE_EQ(value(at_once, "exchange_GBps"), 20);
  EXPECT_DOUBLE_EQ(value(at_once, "there_GBps"), 8);
  // Of two clocks it is known only that both had met: up to 1000 ns apart.
  const auto apart = record({rank_from(5000, "a", {.came_ns = 4000, .left_ns = 5000}),
                             rank_from(905'000, "b", {.came_ns = 904'000, .left_ns = 905'000})});
  EXPECT_DOUBLE_EQ(value(apart, "wall_ms"), 2e-3);
  EXPECT_DOUBLE_EQ(value(apart, "there_GBps"), 4);
  // Of all that came, and of the time in which it came, one rank does not know its part.
  auto unknown = rank_from(5000, "a", {});
  unknown.iterations.front().carried.reset();
  EXPECT_FALSE(record({rank_from(5000, "a", {}), unknown}).contains("exchange_GBps"));
}

// What one rank's log had no room for may be most of it.
TEST(Record, SaysNothingOfPairsAndOverlapWhereALogWasFull) {
  constexpr std::array<Phase, 1> phases = {{{"there", PhaseKind::exchanging}}};
  std::vector<RankFacts> ranks(
      2, rank_with({.wall_ns = 1000, .phase_ns = {1000}, .carried = {{{100, 900}}}}));
  ranks[0].inflows = {{.src = 1, .dst = 0, .bytes = 4000, .messages = 4}};
  const auto whole = make_record(ranks, phases, 24'000, {}, step_ns, "UCX");
  EXPECT_EQ(whole.workload.at("pairs").size(), 1U);
  EXPECT_EQ(whole.messages, 4U);
  ranks[1].transfers_dropped = 3;
  const auto part = make_record(ranks, phases, 24'000, {}, step_ns, "UCX");
  EXPECT_TRUE(part.workload.at("pairs").empty());
  EXPECT_EQ(part.messages, 0U);
  EXPECT_TRUE(part.workload.at("exchange").at("busy_ms").is_null());
  EXPECT_TRUE(part.workload.at("exchange").at("overlap").is_null());
  EXPECT_EQ(part.workload.at("exchange").at("transfers_dropped"), 3);
}

TEST(Record, HasNoneOfPhasesThatDoNotSay) {
  constexpr std::array<Phase, 2> phases = {
      {{"pack", PhaseKind::computing}, {"wait", PhaseKind::waiting}}};
  const std::vector<RankFacts> ranks = {
      rank_with({.wall_ns = 3000, .phase_ns = {1000, 2000}, .received_bytes = 1000})};
  const auto record = make_record(ranks, phases, 24'000, {}, step_ns, "UCX");
  EXPECT_FALSE(record.samples.contains("wait_GBps"));
  EXPECT_FALSE(record.workload.at("phases").at(1).contains("ingress_imbalance"));
  EXPECT_DOUBLE_EQ(record.workload.at("exchange").at("exposed_ms").get<double>(), 2e-3);
}

TEST(Record, SaysOfEachPhaseOfWhichKindItIs) {
  constexpr std::array<Phase, 2> phases = {
      {{"idle", PhaseKind::gap}, {"there", PhaseKind::exchanging}}};
  const std::vector<RankFacts> ranks = {rank_with({.wall_ns = 3000, .phase_ns = {1000, 2000}})};
  const auto record = make_record(ranks, phases, 24'000, {}, step_ns, "sockets");
  std::vector<std::string> said;
  for (const auto& phase : record.workload.at("phases")) {
    said.push_back(phase.at("name").get<std::string>() + ": " +
                   phase.at("kind").get<std::string>());
  }
  EXPECT_EQ(said, (std::vector<std::string>{"idle: gap", "there: exchanging",
                                            "sockets, while computing: moving"}));
  EXPECT_DOUBLE_EQ(record.workload.at("exchange").at("exposed_ms").get<double>(), 2e-3);
}

TEST(Record, HasNoTimeInUcxWhereNobodyTimedIt) {
  constexpr std::array<Phase, 1> phases = {{{"add", PhaseKind::computing}}};
  auto timed = rank_with({.wall_ns = 3000, .phase_ns = {3000}, .progress_ns = 1000});
  const auto untimed = rank_with({.wall_ns = 3000, .phase_ns = {3000}});
  const auto moving = [&](const std::vector<RankFacts>& ranks) {
    std::vector<RankFacts> told;
    for (const auto& rank : ranks) told.push_back(parse_rank_facts(to_json(rank)));
    return make_record(told, phases, 24'000, {}, step_ns, "UCX").workload.at("phases").at(1);
  };
  EXPECT_DOUBLE_EQ(moving({timed, timed}).at("median_ms").get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ(moving({timed, untimed}).at("median_ms").get<double>(), 1e-3)
      << "that rank had nothing to compute";
  for (const auto* field : {"median_ms", "share", "slowest_rank", "slowest_ms"}) {
    EXPECT_TRUE(moving({untimed, untimed}).at(field).is_null()) << field;
  }
}

// The root of a tree alone is at its top.
TEST(Record, HasTimesOfAPhaseOfTheRanksThatEnterIt) {
  constexpr std::array<Phase, 2> phases = {
      {{"all", PhaseKind::computing}, {"root", PhaseKind::computing}}};
  const auto rank = [](std::uint64_t ns) {
    return rank_with({.wall_ns = 4000,
                      .phase_ns = {2000, ns},
                      .phase_when = {{1, 2001}, {ns == 0 ? 0U : 2001U, ns == 0 ? 0U : 3001U}}});
  };
  const auto of = [&](const std::vector<RankFacts>& ranks) {
    return make_record(ranks, phases, 24'000, {}, step_ns, "UCX").workload.at("phases").at(1);
  };
  const auto root = of({rank(0), rank(1000), rank(0)});
  EXPECT_DOUBLE_EQ(root.at("median_ms").get<double>(), 1e-3);
  EXPECT_EQ(root.at("by_rank_ms"), Json({nullptr, 1e-3, nullptr}));
  EXPECT_EQ(root.at("slowest_rank"), 1);
  EXPECT_DOUBLE_EQ(root.at("share").get<double>(), 1.0 / 12) << "of the time of all";
  EXPECT_TRUE(of({rank(0), rank(0)}).at("median_ms").is_null());
}

// A rank that waits for one that has not begun communicates no more than one that computes.
TEST(Record, KeepsRanksThatAreNotReadyOutOfTheExchange) {
  constexpr std::array<Phase, 3> phases = {
      {{"idle", PhaseKind::gap}, {"there", PhaseKind::exchanging}, {"late", PhaseKind::not_ready}}};
  const std::vector<RankFacts> ranks = {
      rank_with({.wall_ns = 6000, .phase_ns = {1000, 2000, 3000}}),
      rank_with({.wall_ns = 6000, .phase_ns = {1000, 4000, 1000}})};
  const auto exchange = make_record(ranks, phases, 24'000, {}, step_ns, "UCX").workload["exchange"];
  EXPECT_DOUBLE_EQ(exchange.at("exposed_ms").get<double>(), 3e-3);
  EXPECT_DOUBLE_EQ(exchange.at("not_ready_ms").get<double>(), 2e-3);
}

}  // namespace
}  // namespace ucxbench
