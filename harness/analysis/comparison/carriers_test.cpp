#include "harness/analysis/comparison/carriers.hpp"

#include <gtest/gtest.h>

#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

using SharesOfPayload = std::map<std::string, double>;

/// A p2p run of twelve launches of the pairs 0->1 and 1->0, with one rate; `carried` of 1->0.
Result carried_run(const SharesOfPayload& carried, double GBps, const Json& medium = {}) {
  Result result;
  result.machine = {{"id", "box"}};
  Case of{.key = "p2p/tag/host-host/auto/1MiB", .benchmark = "p2p"};
  of.state = CaseState::measured;
  for (int launch = 0; launch < 12; ++launch) {
    for (const int src : {0, 1}) {
      LaunchRecord record{.launch = launch};
      record.src = src;
      record.dst = 1 - src;
      record.path = {{"carried_by", src == 1 ? Json(carried) : Json{{"shm", 1.0}}}};
      const auto value = (src == 1 ? GBps : 10.0) * (1 + 0.001 * (launch * 5 % 7));
      record.samples["bandwidth_GBps"].values = {value};
      record.samples["bandwidth_GBps"].quantiles = {.count = 1, .p50 = value};
      of.launches.push_back(record);
    }
  }
  summarize(of);
  of.shows = shows_of_older(of);
  if (!medium.is_null()) {
    for (auto& pair : of.pairs) pair["medium"] = medium;
  }
  result.cases.push_back(of);
  return result;
}

const SeriesChange& row_of_source(const Comparison& found, std::optional<int> src) {
  const auto is = [&](const SeriesChange& row) {
    return src ? row.pair && row.pair->src == *src : !row.pair;
  };
  return *std::ranges::find_if(found.series, is);
}

TEST(Carriers, ThatDifferExplainAChange) {
  const auto found = compare(carried_run({{"shm", 1.0}}, 10), carried_run({{"tcp", 1.0}}, 2));
  const auto& slow = row_of_source(found, 1);
  EXPECT_EQ(slow.change, Change::regressed);
  EXPECT_EQ(slow.reason, Reason::transport);
  EXPECT_EQ(slow.carriers[0], "shm");
  EXPECT_EQ(slow.carriers[1], "tcp");
  EXPECT_EQ(slow.why, "other transport: base shm, new tcp");
  const auto& other = row_of_source(found, 0);
  EXPECT_EQ(other.reason, Reason::none);
  EXPECT_FALSE(other_carriers(other));
  const auto& all = row_of_source(found, std::nullopt);
  EXPECT_EQ(all.carriers[1], "shm, tcp");
  EXPECT_EQ(std::ranges::count_if(found.differences,
                                  [](const std::string& line) {
                                    return line.starts_with(
                                        "transport used: base shm, new tcp: 1 "
                                        "of 3 rows, the first p2p/");
                                  }),
            1);
}

TEST(Carriers, OverAnotherMediumDiffer) {
  const auto found = compare(carried_run({{"nvlink", 1.0}}, 10, "nvlink"),
                             carried_run({{"nvlink", 1.0}}, 2, "pcie"));
  const auto& slow = row_of_source(found, 1);
  EXPECT_EQ(slow.reason, Reason::transport);
  EXPECT_EQ(slow.why, "other transport: base cuda_ipc over NVLink, new cuda_ipc over PCIe");
}

TEST(Carriers, ThatAreAlikeOrNotKnownExplainNothing) {
  for (const auto& now : {SharesOfPayload{{"shm", 0.98}, {"tcp", 0.02}}, SharesOfPayload{}}) {
    const auto found = compare(carried_run({{"shm", 1.0}}, 10), carried_run(now, 2));
    const auto& slow = row_of_source(found, 1);
    EXPECT_EQ(slow.change, Change::regressed);
    EXPECT_EQ(slow.reason, Reason::none);
    EXPECT_EQ(slow.why, "");
  }
}

TEST(Carriers, OfRowsWithoutAVerdictAreSaid) {
  auto base = carried_run({{"shm", 1.0}}, 10);
  auto now = carried_run({{"tcp", 1.0}}, 2);
  for (auto* run : {&base, &now}) {
    auto& launches = run->cases[0].launches;
    std::erase_if(launches, [](const LaunchRecord& record) { return record.launch > 1; });
    summarize(run->cases[0]);
  }
  const auto found = compare(base, now);
  EXPECT_EQ(row_of_source(found, 1).change, Change::inconclusive);
  EXPECT_TRUE(std::ranges::any_of(found.differences, [](const std::string& line) {
    return line.starts_with("transport used: base shm, new tcp: ");
  }));
}

TEST(Carriers, OfAnUnchangedRowAreSaidWithoutAReason) {
  const auto found = compare(carried_run({{"shm", 1.0}}, 10), carried_run({{"tcp", 1.0}}, 10));
  const auto& row = row_of_source(found, 1);
  EXPECT_EQ(row.change, Change::unchanged);
  EXPECT_TRUE(other_carriers(row));
  EXPECT_EQ(row.reason, Reason::none);
}

}  // namespace
}  // namespace ucxbench
