// Whatever orders transport sets leaves out what does not stand for the set of its name, though it
// would be the best.

#include "harness/analysis/unranked.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "harness/analysis/answers.hpp"
#include "harness/analysis/comparison/ablation.hpp"
#include "harness/analysis/loggp.hpp"
#include "harness/analysis/rules/judged.hpp"
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

/// By the reason that is given, the ways in which the figures of a set are not its own.
const std::multimap<Unranked, std::function<void(Case&)>> ways = {
    {Unranked::other_transport, [](Case& of) { carry(of, "other", {{"shm", 1.0}}); }},
    {Unranked::other_transport,
     [](Case& of) { carry(of, "partly", {{"shm", 0.5}, {"tcp", 0.5}}); }},
    {Unranked::other_transport,
     [](Case& of) { of.launches.emplace_back().path = {{"verdict", "other"}}; }},
    {Unranked::overridden, [](Case& of) { carry(of, "unknown", Json::object()); }},
};

TEST(Unranked, IsNoBestWayAndNoFit) {
  for (const auto& [why, spoil] : ways) {
    Result run;
    run.cases = {measured("tcp", 1), measured("shm", 2), measured("auto", 3), measured("ib", 4)};
    ASSERT_EQ(ablation_of(run).at(0).at("ways").at(0).at("way"), "tcp");
    spoil(run.cases[0]);
    if (why == Unranked::overridden) override_all(run);
    EXPECT_EQ(why_unranked(Judged(run), run.cases[0]), why);
    const auto found = ablation_of(run).at(0);
    EXPECT_EQ(found.at("ways").at(0).at("way"), "shm");
    EXPECT_EQ(found.at("left_out").at(0).at("way"), "tcp");
    EXPECT_EQ(found.at("left_out").at(0).at("flaw"), name_of(unranked_names, why));
    EXPECT_NE(found.at("left_out").at(0).at("why"), "");

    for (const auto& answer : answers_of(Judged(run))) {
      EXPECT_EQ(answer.find("tcp"), std::string::npos) << answer;
    }

    Result sizes;
    for (const std::uint64_t bytes : {8, 16, 32, 64}) {
      sizes.cases.push_back(measured("tcp", 1, bytes));
    }
    spoil(sizes.cases[1]);
    if (why == Unranked::overridden) override_all(sizes);
    const auto fit = loggp_of(sizes).at(0);
    EXPECT_EQ(fit.at("ranges").at(0).at("sizes").size(), 3U);
    EXPECT_EQ(fit.at("left_out").at(0).at("bytes"), 16);
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
