#include "harness/launch/hub.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using nlohmann::json;

json put(const std::string& key, Hub::Bytes value) {
  return {{"type", "put"}, {"key", key}, {"value", json::binary(std::move(value))}};
}
json get(const std::string& key) { return {{"type", "get"}, {"key", key}}; }
const json barrier{{"type", "barrier"}};

Hub::Bytes value(const Hub::Reply& reply) { return reply.frame.at("value").get_binary(); }

TEST(Hub, AnswersAGetAtOnceOrWhenThePutComes) {
  Hub hub(3, {{"plan", {9}}}, nullptr);
  EXPECT_EQ(value(hub.handle(0, get("plan")).at(0)), Hub::Bytes{9});
  EXPECT_TRUE(hub.handle(0, get("a")).empty());
  EXPECT_TRUE(hub.handle(2, get("a")).empty());
  EXPECT_EQ(hub.waiting_for(2), "'a' from another rank");
  const auto replies = hub.handle(1, put("a", {1, 2}));
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_EQ(replies[0].rank, 1);
  EXPECT_EQ(replies[0].frame.at("type"), "ok");
  EXPECT_EQ(replies[1].rank, 0);
  EXPECT_EQ(replies[2].rank, 2);
  EXPECT_EQ(value(replies[2]), (Hub::Bytes{1, 2}));
  EXPECT_TRUE(hub.waiting_for(2).empty());
}

TEST(Hub, AnswersAGetOfWhatIsFoundWhenItIsAskedFor) {
  Hub hub(2, {}, nullptr, [](const std::string& key) {
    return key == "data/0" ? std::optional(Hub::Bytes{7}) : std::nullopt;
  });
  EXPECT_EQ(value(hub.handle(1, get("data/0")).at(0)), Hub::Bytes{7});
  EXPECT_TRUE(hub.handle(1, get("data/1")).empty());
}

TEST(Hub, AnswersTheEmptyKeyToNobodyWhoDidNotAsk) {
  Hub hub(2, {}, nullptr);
  hub.handle(1, barrier);
  EXPECT_EQ(hub.handle(0, put("", {1})).size(), 1U);
}

TEST(Hub, ReleasesABarrierOnceForAll) {
  Hub hub(3, {}, nullptr);
  EXPECT_TRUE(hub.handle(0, barrier).empty());
  EXPECT_TRUE(hub.handle(2, barrier).empty());
  const auto replies = hub.handle(1, barrier);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].rank, Hub::all_ranks);
  EXPECT_EQ(replies[0].frame.at("type"), "go");
  EXPECT_TRUE(hub.waiting_for(0).empty());
  EXPECT_TRUE(hub.handle(0, barrier).empty());
}

json gather(const std::string& key, Hub::Bytes value) {
  return {{"type", "gather"}, {"key", key}, {"value", json::binary(std::move(value))}};
}

TEST(Hub, GivesAllValuesToAllRanksOnceTheLastHasCome) {
  Hub hub(3, {}, nullptr);
  EXPECT_TRUE(hub.handle(2, gather("a", {2, 2})).empty());
  EXPECT_TRUE(hub.handle(0, gather("a", {})).empty());
  EXPECT_EQ(hub.waiting_for(0), "'a' of the other ranks");
  const auto replies = hub.handle(1, gather("a", {1}));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].rank, Hub::all_ranks);
  const auto all = json::from_cbor(value(replies[0]));
  ASSERT_EQ(all.size(), 3U);
  const std::vector<Hub::Bytes> expected = {{}, {1}, {2, 2}};
  for (std::size_t of = 0; of < expected.size(); ++of) {
    EXPECT_EQ(Hub::Bytes(all[of].get_binary()), expected[of]);
  }
  for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(hub.waiting_for(rank).empty());
}

TEST(Hub, RefusesASecondValueOfOneRank) {
  Hub hub(2, {}, nullptr);
  hub.handle(0, gather("a", {1}));
  hub.handle(0, gather("a", {1}));
  ASSERT_TRUE(hub.ending().has_value());
  EXPECT_EQ(hub.ending().value().reason, "gave the value 'a' a second time");
}

TEST(Hub, AcknowledgesAReportAfterItWasTaken) {
  std::vector<std::string> taken;
  Hub hub(2, {}, [&](int rank, const std::string& key, const Hub::Bytes& value) {
    taken.push_back(std::to_string(rank) + key + std::to_string(value.size()));
  });
  EXPECT_EQ(hub.handle(1, put("report/x", {1, 2})).size(), 1U);
  EXPECT_EQ(taken, std::vector<std::string>{"1report/x2"});
}

TEST(Hub, CountsProgressButNotHeartbeats) {
  Hub hub(1, {}, nullptr);
  hub.handle(0, {{"type", "heartbeat"}, {"activity", 0}});
  EXPECT_EQ(hub.progress(0), 0U);
  hub.handle(0, {{"type", "heartbeat"}, {"activity", 5}});
  hub.handle(0, {{"type", "heartbeat"}, {"activity", 5}});
  EXPECT_EQ(hub.progress(0), 1U);
  hub.handle(0, {{"type", "phase"}, {"what", "tag 8 B"}});
  EXPECT_EQ(hub.progress(0), 2U);
  EXPECT_EQ(hub.phase(0), "tag 8 B");
}

TEST(Hub, KeepsTheFirstFailure) {
  Hub hub(2, {}, nullptr);
  hub.handle(1, {{"type", "fail"}, {"exit", 4}, {"reason", "wrong byte"}});
  hub.handle(0, {{"type", "fail"}, {"exit", 5}, {"reason", "peer is gone"}});
  ASSERT_TRUE(hub.ending().has_value());
  EXPECT_EQ(hub.ending().value().rank, 1);
  EXPECT_EQ(hub.ending().value().exit, Exit::wrong_data);
  EXPECT_EQ(hub.ending().value().reason, "wrong byte");
}

TEST(Hub, EndsTheRunWhenTheProtocolIsBroken) {
  for (const json& bad : {json{{"type", "sing"}}, json::object(), json{{"type", 3}},
                          json{{"type", "put"}, {"key", "a"}}, put("plan", {})}) {
    Hub hub(1, {{"plan", {}}}, nullptr);
    EXPECT_TRUE(hub.handle(0, bad).empty());
    EXPECT_TRUE(hub.ending().has_value()) << bad.dump();
  }
}

}  // namespace
}  // namespace ucxbench
