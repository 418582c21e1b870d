#include "harness/analysis/comparison/pairs.hpp"

#include <gtest/gtest.h>

#include <random>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

using PairRanks = std::pair<int, int>;

/// What one run of made-up pairs is like.
struct MadePairs {
  std::string benchmark = "p2p";
  std::string metric = "bandwidth_GBps";
  int ranks = 8;
  std::size_t launches = 10;
  unsigned seed = 1;
  double noise = 0.02;
  std::map<PairRanks, double> factors{};  ///< of pairs that are not like the others
  double all = 1;                         ///< of every pair
  std::string duet{};                     ///< the id of the duets that its launches were
  std::vector<PairRanks> absent{};
};

bool of_workload(const MadePairs& made) {
  return made.metric == pair_rate || made.metric == pair_time;
}

void add_pair_value(LaunchRecord& record, const MadePairs& made, const PairRanks& pair,
                    double value) {
  if (of_workload(made)) {
    auto& of = record.workload["pairs"].emplace_back(
        Json{{"src", pair.first}, {"dst", pair.second}, {"messages", 10}});
    of["p50_GBps"] = made.metric == pair_rate ? Json(value) : Json();
    of["delivery_p50_us"] = made.metric == pair_rate ? Json(100 / value) : Json(value);
    return;
  }
  auto& samples = record.samples[made.metric];
  samples.values = {value};
  samples.quantiles = {.count = 1, .p50 = value};
  if (record.duet) record.duet->blocks[made.metric] = {.quads = "A", .values = {value, value}};
}

std::vector<PairRanks> pairs_in(const MadePairs& made) {
  std::vector<PairRanks> pairs;
  for (int src = 0; src < made.ranks; ++src) {
    for (int dst = 0; dst < made.ranks; ++dst) {
      // Of ping-pong neighbours alone, both ways in one.
      if (src == dst || (made.benchmark == "pingpong" && (src % 2 != 0 || dst != src + 1)))
        continue;
      if (std::ranges::count(made.absent, PairRanks{src, dst}) == 0) pairs.emplace_back(src, dst);
    }
  }
  return pairs;
}

Case case_with(const MadePairs& made) {
  Case of{.key = made.benchmark + "/tag/host-host/tcp/1MiB", .benchmark = made.benchmark};
  of.state = CaseState::measured;
  std::mt19937 random(made.seed);
  std::normal_distribution<double> spread(0, made.noise);
  for (int launch = 0; launch < static_cast<int>(made.launches); ++launch) {
    LaunchRecord empty{.launch = launch};
    if (!made.duet.empty()) empty.duet = Duet{.id = made.duet, .first = "base"};
    auto whole = empty;
    for (const auto& pair : pairs_in(made)) {
      const auto found = made.factors.find(pair);
      const auto value = 10 * made.all * (found == made.factors.end() ? 1 : found->second) *
                         std::exp(spread(random));
      if (of_workload(made)) {
        add_pair_value(whole, made, pair, value);
        continue;
      }
      auto record = empty;
      std::tie(record.src, record.dst) = pair;
      add_pair_value(record, made, pair, value);
      of.launches.push_back(record);
    }
    if (!of_workload(made)) continue;
    whole.workload["phases"] = Json::array();
    whole.workload["exchange"] = Json::object();
    auto of_all = made;
    of_all.metric = "wall_ms";
    add_pair_value(whole, of_all, {0, 1}, 10 * std::exp(spread(random)));
    of.launches.push_back(whole);
  }
  summarize(of);
  of.shows = shows_of_older(of);
  return of;
}

/// Four ranks to a host.
Result run_with(const std::vector<MadePairs>& all) {
  Result result;
  result.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
  for (int rank = 0; rank < all.front().ranks; ++rank) {
    result.ranks.push_back({{"rank", rank}, {"host", "node" + std::to_string(rank / 4)}});
  }
  for (const auto& made : all) {
    result.cases.push_back(case_with(made));
    result.cases.back().key += std::to_string(&made - all.data());
  }
  return result;
}

std::vector<SeriesChange> changed_rows(const Comparison& comparison) {
  std::vector<SeriesChange> rows;
  std::ranges::copy_if(comparison.series, std::back_inserter(rows), [](const SeriesChange& row) {
    return row.change == Change::regressed || row.change == Change::improved;
  });
  return rows;
}

const SeriesChange& row_of_pair(const Comparison& comparison, std::optional<PairRanks> pair) {
  return *std::ranges::find_if(comparison.series, [&](const SeriesChange& row) {
    return row.pair.has_value() == pair.has_value() &&
           (!pair || PairRanks(row.pair->src, row.pair->dst) == *pair);
  });
}

TEST(Pairs, OneSlowPairIsFoundAndNamedWhateverIsMeasured) {
  for (const auto& [benchmark, metric, pair, factor] :
       {std::tuple{"p2p", "bandwidth_GBps", PairRanks{3, 5}, 0.25},
        {"p2p", "bandwidth_GBps", PairRanks{7, 0}, 0.8},
        {"pingpong", "latency_us", PairRanks{4, 5}, 4.0},
        {"pingpong", "bandwidth_GBps", PairRanks{2, 3}, 0.25},
        {"cold", "first_message_us", PairRanks{0, 6}, 4.0},
        {"merge", pair_rate, PairRanks{6, 1}, 0.25},
        {"merge", pair_time, PairRanks{6, 1}, 4.0}}) {
    SCOPED_TRACE(std::string(benchmark) + " " + metric);
    const MadePairs usual{.benchmark = benchmark, .metric = metric, .launches = 12};
    auto slow = usual;
    slow.seed = 2;
    slow.factors[pair] = factor;
    const auto found = compare(run_with({usual}), run_with({slow}));
    ASSERT_EQ(changed_rows(found).size(), 1U);
    const auto row = changed_rows(found).front();
    EXPECT_EQ(row.change, Change::regressed);
    ASSERT_TRUE(row.pair);
    EXPECT_EQ(PairRanks(row.pair->src, row.pair->dst), pair);
    EXPECT_NEAR(row.ratio.estimate, factor, 0.05 * factor);
    // The median over the pairs does not see it.
    EXPECT_EQ(row_of_pair(found, std::nullopt).change, Change::unchanged);
    EXPECT_EQ(found.tests, pairs_in(usual).size() + 1);
  }
}

TEST(Pairs, AreNamedByRanksHostsAndDirection) {
  const auto found = compare(run_with({{.noise = 0.005}}),
                             run_with({{.seed = 2, .noise = 0.005, .factors = {{{3, 5}, 0.25}}}}));
  ASSERT_EQ(changed_rows(found).size(), 1U);
  EXPECT_EQ(name_of(changed_rows(found).front()),
            "p2p/tag/host-host/tcp/1MiB0 pair 3->5 (node0->node1) bandwidth_GBps");
  const auto folded = folded_rows(found);
  ASSERT_EQ(folded.size(), 3U);
  EXPECT_EQ(folded.front().pair->stands_for, 1U);
  const auto others = std::ranges::find_if(
      folded, [](const SeriesChange& row) { return row.pair && row.change == Change::unchanged; });
  ASSERT_NE(others, folded.end());
  EXPECT_EQ(others->pair->stands_for, 55U);
  EXPECT_EQ(in_words({.src = 1, .dst = 2, .src_host = "a", .dst_host = "a", .several_hosts = true}),
            "pair 1->2 (a)");
}

TEST(Pairs, SlowLinkThatMovesIsALossAndAGain) {
  const auto found = compare(run_with({{.factors = {{{1, 2}, 0.25}}}}),
                             run_with({{.seed = 2, .factors = {{{3, 5}, 0.25}}}}));
  ASSERT_EQ(changed_rows(found).size(), 2U);
  EXPECT_EQ(changed_rows(found)[0].change, Change::regressed);
  EXPECT_EQ(changed_rows(found)[1].change, Change::improved);
}

/// The same run, whose ranks have these numbers: `now[rank]` of what was `rank`.
Result renumbered(Result run, const std::vector<int>& now) {
  const auto was = run.ranks;
  const auto number = [&](int rank) { return now.at(static_cast<std::size_t>(rank)); };
  for (std::size_t rank = 0; rank < was.size(); ++rank) {
    auto& moved = run.ranks[static_cast<std::size_t>(now.at(rank))];
    moved = was[rank];
    moved["rank"] = now.at(rank);
  }
  for (auto& of : run.cases) {
    for (auto& record : of.launches) {
      record.src = number(record.src);
      record.dst = number(record.dst);
      if (!record.workload.contains("pairs")) continue;
      for (auto& pair : record.workload["pairs"]) {
        pair["src"] = number(pair["src"].get<int>());
        pair["dst"] = number(pair["dst"].get<int>());
      }
    }
    summarize(of);
  }
  return run;
}

TEST(Pairs, AreMatchedByTheirHostsInWhateverOrderTheseCame) {
  const std::vector<int> hosts_swapped = {4, 5, 6, 7, 0, 1, 2, 3};
  for (const auto* metric : {"bandwidth_GBps", pair_rate}) {
    SCOPED_TRACE(metric);
    const MadePairs slow{
        .metric = metric, .launches = 12, .noise = 0.005, .factors = {{{3, 5}, 0.25}}};
    auto again = slow;
    again.seed = 2;
    const auto same = compare(run_with({slow}), renumbered(run_with({again}), hosts_swapped));
    EXPECT_TRUE(changed_rows(same).empty());
    EXPECT_FALSE(same.base_ranks.empty());
    // As far away, by the ranks' numbers, as the hosts are: another link is slow.
    again.factors = {{{7, 1}, 0.25}};
    const auto moved = compare(run_with({slow}), renumbered(run_with({again}), hosts_swapped));
    ASSERT_EQ(changed_rows(moved).size(), 2U);
    EXPECT_EQ(in_words(*changed_rows(moved)[0].pair),
              "pair 3->5 (node1->node0; 7->1 in the base run)");
    EXPECT_EQ(changed_rows(moved)[0].change, Change::regressed);
    EXPECT_EQ(changed_rows(moved)[1].change, Change::improved);
  }
}

TEST(Pairs, OfHostsOfOneRunAreNamedAndNotCompared) {
  const MadePairs usual{.noise = 0.005};
  auto other = run_with({{.seed = 2, .noise = 0.005}});
  for (auto& rank : other.ranks) {
    if (rank["host"] == "node1") rank["host"] = "node9";
  }
  const auto found = compare(run_with({usual}), other);
  EXPECT_TRUE(std::ranges::count(
      found.differences, "the new run alone has ranks on node9: their pairs are not compared"));
  EXPECT_EQ(row_of_pair(found, PairRanks{0, 5}).change, Change::missing);
  EXPECT_EQ(row_of_pair(found, PairRanks{0, 3}).change, Change::unchanged);
  EXPECT_EQ(row_of_pair(found, std::nullopt).reason, Reason::pairs);
}

TEST(Pairs, OfOneCaseHaveItsOwnHosts) {
  const MadePairs usual{.noise = 0.005};
  auto base = run_with({usual});
  auto now = run_with({{.seed = 2, .noise = 0.005, .factors = {{{3, 5}, 0.25}}}});
  for (auto* run : {&base, &now}) {
    for (int rank = 0; rank < 8; ++rank) {
      run->cases[0].hosts.push_back("node" + std::to_string(rank % 2));
    }
  }
  const auto found = compare(base, now);
  ASSERT_EQ(changed_rows(found).size(), 1U);
  EXPECT_EQ(in_words(*changed_rows(found)[0].pair), "pair 3->5 (node1)");
}

// Both ways between two hosts are two links.
TEST(Pairs, OneAloneIsNotHeldAgainstItsWayBack) {
  MadePairs one{.benchmark = "pingpong", .ranks = 2};
  auto base = run_with({one});
  auto now = run_with({one});
  base.ranks[1]["host"] = "node1";
  now.ranks[0]["host"] = "node1";
  const auto found = compare(base, now);
  EXPECT_EQ(row_of_pair(found, std::nullopt).reason, Reason::pairs);
  EXPECT_EQ(row_of_pair(found, PairRanks{0, 1}).change, Change::missing);
}

TEST(Pairs, DuetsAreOfOnePairEach) {
  for (const auto* metric : {"bandwidth_GBps", pair_rate, pair_time}) {
    const MadePairs usual{.metric = metric, .launches = 16, .duet = "0123456789abcdef"};
    auto slow = usual;
    slow.seed = 2;
    slow.factors[{6, 2}] = metric == pair_time ? 4 : 0.25;
    const auto found = compare(run_with({usual}), run_with({slow}));
    // A duet's summary is the mean over the pairs, which may see it, too.
    auto rows = changed_rows(found);
    std::erase_if(rows, [](const SeriesChange& row) { return !row.pair; });
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].change, Change::regressed);
    EXPECT_EQ(rows[0].method, Method::duets);
    EXPECT_EQ(PairRanks(rows[0].pair->src, rows[0].pair->dst), PairRanks(6, 2));
  }
}

TEST(Pairs, OfAWorkloadHaveTheRateWhereAllHaveIt) {
  const auto rates = case_with({.metric = pair_rate});
  const auto metric_of = [](const Case& base, const Case& now) {
    const auto* metric = pair_metric_of(base, now);
    return std::string(metric == nullptr ? "none" : metric);
  };
  EXPECT_EQ(metric_of(rates, rates), pair_rate);
  auto but_one = rates;
  auto& pair = but_one.launches.back().workload["pairs"].back();
  pair["p50_GBps"] = nullptr;
  EXPECT_EQ(metric_of(rates, but_one), pair_time);
  EXPECT_EQ(metric_of(but_one, rates), pair_time);
  pair["messages"] = 0;
  EXPECT_EQ(metric_of(rates, but_one), pair_rate) << "they send each other nothing";
  auto older = rates;
  for (auto& launch : older.launches) {
    for (auto& of : launch.workload["pairs"]) of.erase("delivery_p50_us");
  }
  EXPECT_EQ(metric_of(older, older), pair_rate);
  EXPECT_EQ(metric_of(older, rates), "none") << "those rates are of another time";
}

TEST(Pairs, RaiseNoFalseAlarm) {
  std::size_t alarms = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto found = compare(run_with({{.seed = 2 * seed, .noise = 0.1}}),
                               run_with({{.seed = 2 * seed + 1, .noise = 0.1}}));
    alarms += changed_rows(found).empty() ? 0 : 1;
  }
  // One of 20 has one with a chance of 10 % at most; these seeds have none.
  EXPECT_EQ(alarms, 0U);
}

TEST(Pairs, OutOfReachTheyAreUndecidedAndHideNothing) {
  // Of 8 launches the least p is 1.6e-4: enough for two tests, not for 114.
  const auto found = compare(run_with({{.launches = 8}, {.launches = 8}}),
                             run_with({{.launches = 8, .seed = 2, .factors = {{{3, 5}, 0.25}}},
                                       {.launches = 8, .seed = 3, .all = 0.5}}));
  EXPECT_EQ(found.tests, 2U);
  ASSERT_EQ(changed_rows(found).size(), 1U);
  EXPECT_FALSE(changed_rows(found)[0].pair);
  const auto& slow = row_of_pair(found, PairRanks{3, 5});
  EXPECT_EQ(slow.change, Change::inconclusive);
  EXPECT_EQ(slow.doubt, Doubt::too_few_launches);
  EXPECT_EQ(slow.launches_wanted, launches_needed(114, usual_alpha));
}

TEST(Pairs, MissingOnesAreNamed) {
  const auto found = compare(run_with({{}}), run_with({{.seed = 2, .absent = {{3, 5}}}}));
  EXPECT_EQ(row_of_pair(found, PairRanks{3, 5}).change, Change::missing);
  const auto more = compare(run_with({{.seed = 2, .absent = {{3, 5}}}}), run_with({{}}));
  EXPECT_EQ(row_of_pair(more, PairRanks{3, 5}).change, Change::added);
}

// One of two pairs is lost, which is twice as fast as the other: no pair changed.
TEST(Pairs, MediansOverOtherPairsAreNotJudged) {
  for (const auto* metric : {"bandwidth_GBps", "latency_us"}) {
    const MadePairs both{.metric = metric, .ranks = 3, .factors = {{{0, 1}, 2}}};
    auto fewer = both;
    fewer.seed = 2;
    fewer.absent = {{0, 1}, {0, 2}, {1, 0}};
    for (const auto& found : {compare(run_with({both}), run_with({fewer})),
                              compare(run_with({fewer}), run_with({both}))}) {
      EXPECT_TRUE(changed_rows(found).empty()) << metric;
      EXPECT_EQ(row_of_pair(found, std::nullopt).reason, Reason::pairs) << metric;
    }
  }
}

TEST(Pairs, OfVeryManyTheSlowestBetweenTwoHostsHasARow) {
  if (every_trial > 1) GTEST_SKIP() << "the other tests of pairs run the same code";
  const MadePairs usual{.ranks = 65, .launches = 10};
  auto slow = usual;
  slow.seed = 2;
  slow.factors[{9, 30}] = 0.25;
  const auto found = compare(run_with({usual}), run_with({slow}));
  ASSERT_EQ(changed_rows(found).size(), 1U);
  EXPECT_EQ(in_words(*changed_rows(found)[0].pair), "pair 9->30 (node2->node7), slowest of 16");
}

}  // namespace
}  // namespace ucxbench
