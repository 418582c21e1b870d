// Whatever orders transport sets leaves out what does not stand for the set of its name, though it
// would be the best.

#include "harness/analysis/unranked.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "harness/analysis/answers.hpp"
#include "harness/analysis/comparison/ablation.hpp"
#include "harness/analysis/decisions.hpp"
#include "harness/analysis/loggp.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Case measured(const std::string& set, double latency_us, std::uint64_t bytes = 8) {
  Case of{.key = set + "/" + std::to_string(bytes),
          .benchmark = "pingpong",
          .parameters = {{"api", "tag"},
                         {"bytes", bytes},
                         {"memory", {"host", "host"}},
                         {"transports", {set}}},
          .state = CaseState::measured};
  for (const auto* name : {"latency_us", "message_us", "send_overhead_us", "receive_overhead_us"}) {
    auto& metric = of.metrics[name];
    metric.quantiles.p50 = latency_us;
    metric.ci95 = {latency_us * 0.99, latency_us * 1.01};
    metric.launch_medians = std::vector<double>(6, latency_us);
  }
  of.shows = shows_of_older(of);
  of.path = {{"verdict", "as-asked"}, {"carried_by", {{set, 1.0}}}};
  return of;
}

void override_all(Result& run) {
  for (const auto& of : run.cases) run.ucx["environment"]["overridden"].push_back(of.key);
}

void carry(Case& of, const std::string& verdict, const Json& carriers) {
  of.path = {{"verdict", verdict}, {"carried_by", carriers}};
}

/// Adds a launch whose messages were received at this rate.
void receive(Case& of, double GBps) {
  auto& metric = of.metrics["bandwidth_GBps"];
  metric.quantiles.p50 = 5;
  metric.launch_medians.push_back(GBps);
  of.launches.emplace_back().samples["bandwidth_GBps"].quantiles = {.min = GBps, .p50 = GBps};
}

void be_of_pairs(Case& of, const Json& rates) {
  of.shows.kind = ViewKind::matrix;
  of.shows.ranks = 2;
  of.pairs = {{{"src", 0}, {"dst", 1}, {"p50_GBps", 5}}};
  if (!rates.is_null()) of.pairs.push_back({{"src", 1}, {"dst", 0}, {"p50_GBps", rates}});
}

/// By the reason that is given, the ways in which the figures of a set are not its own, or none.
const std::multimap<Unranked, std::function<void(Result&, Case&)>> ways = {
    {Unranked::wrong_data, [](Result&, Case& of) { of.verified.errors = 1; }},
    {Unranked::failed, [](Result&, Case& of) { of.state = CaseState::failed; }},
    {Unranked::impossible,
     [](Result&, Case& of) {
       of.launches.emplace_back().samples["latency_us"].quantiles.min = -1;
       of.labels = {"interrupted"};
     }},
    {Unranked::no_bytes, [](Result&, Case& of) { receive(of, 0); }},
    {Unranked::no_bytes,
     [](Result&, Case& of) {
       receive(of, 5);
       receive(of, 0);
       of.labels = {"interrupted"};
     }},
    {Unranked::time_sliced, [](Result&, Case& of) { of.labels = {"same-gpu", "time-sliced"}; }},
    {Unranked::launch_lost,
     [](Result& run, Case& of) {
       run.run = {{"state", "failed"},
                  {"lost_launches", Json::array({{{"cases", {of.key}}, {"reason", "killed"}}})}};
     }},
    {Unranked::incomplete, [](Result&, Case& of) { be_of_pairs(of, {}); }},
    {Unranked::other_transport, [](Result&, Case& of) { carry(of, "other", {{"shm", 1.0}}); }},
    {Unranked::other_transport,
     [](Result&, Case& of) { carry(of, "partly", {{"shm", 0.5}, {"tcp", 0.5}}); }},
    {Unranked::other_transport,
     [](Result&, Case& of) { of.launches.emplace_back().path = {{"verdict", "other"}}; }},
    {Unranked::overridden,
     [](Result& run, Case& of) {
       carry(of, "unknown", Json::object());
       override_all(run);
     }},
};

TEST(Unranked, IsNoBestWayAndNoFit) {
  for (const auto& [why, name, about] : unranked_names) EXPECT_TRUE(ways.contains(why)) << name;
  for (const auto& [why, spoil] : ways) {
    SCOPED_TRACE(name_of(unranked_names, why));
    Result run;
    run.cases = {measured("tcp", 1), measured("shm", 2), measured("auto", 3), measured("ib", 4)};
    ASSERT_EQ(ablation_of(run).at(0).at("ways").at(0).at("way"), "tcp");
    ASSERT_TRUE(may_advise(Judged(run), run.cases[0]));
    spoil(run, run.cases[0]);
    EXPECT_EQ(why_unranked(Judged(run), run.cases[0]), why);
    EXPECT_FALSE(may_advise(Judged(run), run.cases[0]));
    const auto found = ablation_of(run).at(0);
    EXPECT_EQ(found.at("ways").at(0).at("way"), "shm");
    EXPECT_EQ(found.at("left_out").at(0).at("way"), "tcp");
    EXPECT_EQ(found.at("left_out").at(0).at("flaw"), name_of(unranked_names, why));
    EXPECT_NE(found.at("left_out").at(0).at("why"), "");

    for (const auto& answer : answers_of(Judged(run))) {
      EXPECT_TRUE(answer.starts_with("impossible: ") || answer.find("tcp") == answer.npos)
          << answer;
    }

    Result sizes;
    for (const std::uint64_t bytes : {8, 16, 32, 64}) {
      sizes.cases.push_back(measured("tcp", 1, bytes));
    }
    spoil(sizes, sizes.cases[1]);
    const auto fit = loggp_of(sizes).at(0);
    EXPECT_EQ(fit.at("ranges").at(0).at("sizes").size(), 3U);
    EXPECT_EQ(fit.at("left_out").at(0).at("bytes"), 16);
  }
}

// Whoever killed the rank, the run does not say it of a case.
TEST(Unranked, IsAllOfARunThatFailed) {
  Result run;
  run.cases = {measured("tcp", 1), measured("shm", 2)};
  run.run = {{"state", "failed"}, {"reason", "rank 5 on node2 was killed by signal 9"}};
  for (const auto& of : run.cases) {
    ASSERT_EQ(why_unranked(Judged(run), of), Unranked::launch_lost);
    EXPECT_EQ(in_words(Unranked::launch_lost, Judged(run), of),
              "rank 5 on node2 was killed by signal 9");
  }
  run.cases[1].state = CaseState::failed;
  EXPECT_EQ(why_unranked(Judged(run), run.cases[0]), std::nullopt) << "it was the other one";
}

TEST(Unranked, NamesThePairsThatMovedNothing) {
  auto of = measured("tcp", 1);
  receive(of, 0);
  receive(of, 0);
  of.launches.back().src = 2;
  of.launches.back().dst = 5;
  EXPECT_EQ(no_bytes_in_words(of), "0->1 moved nothing in 1 of 1 launch (2 such pairs)");
  be_of_pairs(of, {});
  EXPECT_EQ(missing_pairs_in_words(of), "no figure of 1->0 (1 of 2 pairs)");
  be_of_pairs(of, 5);
  EXPECT_EQ(missing_pairs_in_words(of), "");
}

// One GPU for several ranks is no matter of their transport set.
TEST(Unranked, SpoilsTheSetButByTurnsOnAGpu) {
  for (const auto& [why, spoil] : ways) {
    Result run;
    run.cases = {measured("tcp", 1), measured("tcp", 1, 64), measured("shm", 1)};
    spoil(run, run.cases[0]);
    const bool spoilt = why != Unranked::time_sliced;
    EXPECT_EQ(may_advise(Judged(run), run.cases[1]), !spoilt) << name_of(unranked_names, why);
  }
}

// The user's UCX_TLS may allow the set that carried it: its name is true then, but for `auto`.
TEST(Unranked, IsNoSetThatWasProvedToCarryIt) {
  Result run;
  run.cases = {measured("tcp", 1), measured("auto", 1)};
  override_all(run);
  EXPECT_EQ(why_unranked(Judged(run), run.cases[0]), std::nullopt);
  EXPECT_EQ(why_unranked(Judged(run), run.cases[1]), Unranked::overridden);
}

}  // namespace
}  // namespace ucxbench
