#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {
namespace {

TEST(DaskLog, IsARequestAndItsAnswer) {
  const auto traffic = parse_dask_log("d.json", R"({
    "tcp://b:2": [{"who": "tcp://a:1", "start": 1000.5, "stop": 1000.75, "total": 4096,
                   "duration": 0.25, "keys": {"x": 4096}, "bandwidth": 16384}],
    "tcp://a:1": []})");
  ASSERT_EQ(traffic.ranks.size(), 2U);
  EXPECT_EQ(traffic.messages, 2U);
  EXPECT_EQ(traffic.bytes, 4104U);
  EXPECT_NEAR(static_cast<double>(traffic.wall_ns), 0.25e9, 1e3);
  // By name: a:1 is rank 0, which has what b:2 asks for.
  const auto& has = traffic.ranks[0].messages;
  const auto& asks = traffic.ranks[1].messages;
  ASSERT_EQ(has.size(), 2U);
  ASSERT_EQ(asks.size(), 2U);
  EXPECT_EQ(has[0].kind, Transfer::receive);
  EXPECT_EQ(has[0].bytes, 8U);
  EXPECT_EQ(has[1].kind, Transfer::send);
  EXPECT_EQ(has[1].bytes, 4096U);
  EXPECT_EQ(order_of(traffic.ranks[0]).after, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(order_of(traffic.ranks[1]).after, (std::vector<std::size_t>{0, 0}));
}

TEST(DaskLog, KnowsWorkersThatOnlySent) {
  const auto traffic =
      parse_dask_log("d.json", R"({"b": [{"who": "a", "start": 1, "stop": 1, "total": 0}]})");
  EXPECT_EQ(traffic.ranks.size(), 2U);
}

using Doubts = std::vector<std::string>;

Doubts doubts(const std::string& text) { return parse_dask_log("d.json", text).doubts; }

// A clock was set back between start and stop, as NTP does.
TEST(DaskLog, CountsEntriesThatCannotBe) {
  const std::string good = R"({"who": "b", "start": 1, "stop": 2, "total": 1000000})";
  const std::string bad = R"({"who": "b", "start": 2, "stop": 1, "total": 1000000})";
  const auto log = [](const std::string& entries) {
    return R"({"a": [)" + entries + R"(], "b": []})";
  };
  const auto without = parse_dask_log("d.json", log(good));
  const auto with = parse_dask_log("d.json", log(good + "," + bad + "," + bad));
  EXPECT_EQ(without.doubts, Doubts{});
  EXPECT_EQ(with.messages, without.messages);
  EXPECT_EQ(with.doubts,
            Doubts{"2 of 3 entries cannot be (first entry 1 of 'a') and are left out: expected who "
                   "(another worker), start no later than stop, total in bytes"});
}

TEST(DaskLog, NamesWhoIsNoWorkerOfTheLog) {
  EXPECT_EQ(doubts(R"({"a": [{"who": "gone", "start": 1, "stop": 2, "total": 1000000}]})"),
            Doubts{"no list of gone: taken as a worker that received nothing"});
}

TEST(DaskLog, SaysHowToRecordWhatP2pHasSent) {
  const auto lines =
      doubts(R"({"a": [{"who": "b", "start": 1, "stop": 2, "total": 44}], "b": []})");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("44 bytes in 1 entry: P2P"), std::string::npos) << lines[0];
}

TEST(DaskLog, MayBeADumpOfTheCluster) {
  const auto traffic = parse_dask_log("d.json", R"({"scheduler": {}, "versions": {}, "workers": {
    "a": {"address": "a", "transfer_incoming_log":
          [{"who": "b", "start": 1, "stop": 2, "total": 1000000}]},
    "b": {"address": "b", "transfer_incoming_log": []}}})");
  EXPECT_EQ(traffic.ranks.size(), 2U);
  EXPECT_EQ(traffic.bytes, 1000008U);
  EXPECT_EQ(traffic.doubts, Doubts{});
}

TEST(DaskLog, SaysWhatIsWrong) {
  const auto refusal = [](const char* text) {
    return refusal_by([&] { parse_dask_log("d.json", text); });
  };
  const std::string other =
      "LOG 'd.json': neither a run file nor a dump of Dask's "
      "transfer_incoming_log: ";
  EXPECT_EQ(refusal("[]"), other + "it is not an object of workers");
  EXPECT_TRUE(refusal("{\"a\": [").starts_with(other + "it ends or breaks at byte"));
  EXPECT_EQ(refusal(R"({"a": 3})"), "LOG 'd.json': 'a' is not a list");
  EXPECT_EQ(refusal(R"({"a": []})"), "LOG 'd.json': it has no messages");
  const std::string entry =
      "LOG 'd.json': entry 0 of 'a': expected who (another worker), start and stop in seconds, "
      "total in bytes, as in Dask's transfer_incoming_log";
  EXPECT_EQ(refusal(R"({"a": [{"who": "b", "start": 2, "stop": 1, "total": 1}]})"), entry);
  EXPECT_EQ(refusal(R"({"a": [{"who": "a", "start": 1, "stop": 2, "total": 1}]})"), entry);
  EXPECT_EQ(refusal(R"({"a": [{"who": "b", "start": 1, "stop": 2, "total": -1}]})"), entry);
  EXPECT_EQ(refusal(R"({"a": [7]})"), entry);
  EXPECT_EQ(refusal(R"({"a": [{"who": "b", "start": 1, "stop": 1e300, "total": 1}]})"),
            "LOG 'd.json': a run of 2e+06 s; expected at most 1e+06 s");
}

TEST(DaskLog, IsReadInTimeByItsSize) {
  std::string workers, tasks;
  for (int i = 0; i < 50'000; ++i) {
    workers += fmt::format("\"w{}\": {{}},", i);
    tasks += fmt::format("\"t{}\": 0,", i);
  }
  workers.pop_back();
  tasks.pop_back();
  EXPECT_EQ(refusal_by([&] { doubts("{\"workers\": {" + workers + "}}"); }),
            "LOG 'd.json': 50000 workers; expected at most 1024");
  doubts("{\"tasks\": {" + tasks +
         R"(}, "workers": {"a": {"transfer_incoming_log": [)"
         R"({"who": "b", "start": 1, "stop": 1, "total": 0}]}}})");
}

}  // namespace
}  // namespace ucxbench::replay
