#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "bench/kv/contents.hpp"
#include "bench/kv/layout.hpp"
#include "bench/kv/models.hpp"
#include "bench/kv/parameters.hpp"
#include "bench/kv/report.hpp"
#include "harness/core/refusal_for_test.hpp"

namespace ucxbench::kv {
namespace {

using Ranks = std::vector<int>;

TEST(Models, HaveHeadsOfWhichEitherSidesShareDividesTheOthers) {
  for (const auto& model : models()) EXPECT_TRUE(std::has_single_bit(model.heads)) << model.name;
}

TEST(Layout, DividesHeadsInOrder) {
  const Layout more({.prefill = 4, .decode = 2, .layers = 2, .descriptors = 8, .bytes = 16});
  EXPECT_EQ(more.peers_of(0), Ranks{4});
  EXPECT_EQ(more.peers_of(3), Ranks{5});
  EXPECT_EQ(more.peers_of(5), (Ranks{2, 3}));
  EXPECT_EQ(more.of_pair(), 4U);
  EXPECT_EQ(more.bytes_of(0), 4 * 16U);
  EXPECT_EQ(more.bytes_of(4), 8 * 16U);
  EXPECT_EQ(more.bytes_of_round(), 2 * 8 * 16U);

  const Layout fewer({.prefill = 1, .decode = 2, .layers = 2, .descriptors = 8, .bytes = 16});
  EXPECT_EQ(fewer.peers_of(0), (Ranks{1, 2}));
  EXPECT_EQ(fewer.peers_of(2), Ranks{0});
  EXPECT_EQ(fewer.bytes_of(0), 16 * 16U);
}

TEST(Layout, HasEachBlockOnceInTheRegionOfItsLayer) {
  const Layout layout({.prefill = 2, .decode = 1, .layers = 3, .descriptors = 40, .bytes = 8});
  for (const int rank : {0, 1, 2}) {
    std::set<std::uint64_t> places;
    for (std::size_t peer = 0; peer < layout.peers_of(rank).size(); ++peer) {
      for (std::uint64_t layer = 0; layer < layout.layers(); ++layer) {
        for (auto at = layout.before_layer(layer); at < layout.before_layer(layer + 1); ++at) {
          const auto place = layout.place(rank, peer, layer, at);
          EXPECT_GE(place, layout.bytes_before_layer(rank, layer));
          EXPECT_LE(place + 8, layout.bytes_before_layer(rank, layer + 1));
          EXPECT_TRUE(places.insert(place).second);
        }
      }
    }
    EXPECT_EQ(places.size() * 8, layout.bytes_of(rank));
  }
  // On the two sides in another order.
  EXPECT_EQ(layout.place(2, 0, 0, 1), 2 * 8U);
  EXPECT_NE(layout.place(0, 0, 0, 1), 8U);
}

TEST(Layout, HasNoLayerWithoutABlock) {
  const Layout layout({.prefill = 1, .decode = 1, .layers = 80, .descriptors = 3, .bytes = 8});
  EXPECT_EQ(layout.layers(), 3U);
  for (std::uint64_t layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(layout.before_layer(layer + 1) - layout.before_layer(layer), 1U);
  }
}

// As puts and gets do it.
void move(const Layout& layout, int prefill, const Buffer& from, int decode, Buffer& into) {
  const auto here = layout.number_among_peers(prefill, decode);
  const auto there = layout.number_among_peers(decode, prefill);
  for (std::uint64_t layer = 0; layer < layout.layers(); ++layer) {
    for (auto at = layout.before_layer(layer); at < layout.before_layer(layer + 1); ++at) {
      copy_bytes(MemoryKind::host, into.data() + layout.place(decode, here, layer, at),
                 from.data() + layout.place(prefill, there, layer, at), layout.shape().bytes);
    }
  }
}

TEST(Contents, OfEveryBlockAreLookedAt) {
  const Layout layout({.prefill = 2, .decode = 1, .layers = 3, .descriptors = 20, .bytes = 24});
  Buffer into(MemoryKind::host, layout.bytes_of(2));
  for (const int prefill : {0, 1}) {
    Buffer from(MemoryKind::host, layout.bytes_of(prefill));
    fill(layout, prefill, 7, from);
    move(layout, prefill, from, 2, into);
  }
  const auto right = check_blocks(layout, 2, 7, into);
  EXPECT_EQ(right.verified.errors, 0U);
  const auto all_wrong = check_blocks(layout, 2, 8, into);
  EXPECT_EQ(all_wrong.verified.checked, right.verified.checked);
  EXPECT_EQ(all_wrong.verified.errors, right.verified.checked);
  into.data()[layout.place(2, 1, 2, layout.of_pair() - 1) + 5] ^= std::byte{1};
  const auto one_wrong = check_blocks(layout, 2, 7, into);
  EXPECT_EQ(one_wrong.verified.errors, 1U);
  EXPECT_EQ(one_wrong.error,
            "wrong data at byte offset 5 of 24: block 3 of layer 2, rank 2 from rank 1");
}

Parameters of_model(const char* name, std::uint64_t tokens, int prefill, int decode) {
  Parameters p;
  p.model = name;
  p.tokens = tokens;
  p.prefill = prefill;
  p.decode = decode;
  p.ranks = prefill + decode;
  return p;
}

TEST(Parameters, FollowFromModelAndTokens) {
  // 2 · 8 heads · 128 · 2 B = 4 KiB of a token in a layer, in 80 layers 320 KiB.
  auto p = of_model("llama3-70b", 1000, 2, 2);
  settle(p);
  EXPECT_EQ(p.bytes, 4 * 128 * 2 * 16U);
  EXPECT_EQ(p.descriptors, 80 * 2 * 63U);
  EXPECT_EQ(layout_of(p).bytes_of_round(), 1008 * (320U << 10U));

  p = of_model("llama3-70b", 1000, 4, 1);
  settle(p);
  EXPECT_EQ(layout_of(p).bytes_of_round(), 1008 * (320U << 10U));
}

std::string refused(Parameters p, std::uint64_t memory = std::uint64_t{1} << 30U) {
  return refusal_by([&] {
    settle(p);
    check_case(p, {.ranks = p.ranks, .cpus = 2, .memory_bytes = memory});
  });
}

TEST(Parameters, ThatCannotBeAreRefused) {
  EXPECT_EQ(refused(of_model("llama3-8b", 512, 1, 1)), "accepted");
  EXPECT_EQ(refused(of_model("llama3-8b", 512, 1, 16)),
            "--decode 16: llama3-8b has 8 KV heads; give a number of ranks that divides it");
  EXPECT_NE(refused(of_model("deepseek-v3", 512, 2, 1)), "accepted");
  EXPECT_NE(refused(of_model("llama3-8b", 512, 1, 1), 1U << 20U), "accepted");
  EXPECT_NE(refused(of_model("llama3-8b", std::uint64_t{1} << 53U, 1, 1)), "accepted");

  auto p = of_model("llama3-8b", 512, 1, 1);
  p.descriptors = 3;
  p.bytes = 64;
  EXPECT_NE(refused(p).find("leave out one of the three"), std::string::npos);
  p.tokens = 0;
  EXPECT_EQ(refused(p), "accepted");
  p.bytes = 12;
  EXPECT_NE(refused(p).find("--block 12B"), std::string::npos);
  p.bytes = std::uint64_t{1} << 62U;
  p.memory = {"cuda", "cuda"};
  EXPECT_NE(refused(p), "accepted");
  p.bytes = 64;
  p.prefill = 2;
  EXPECT_NE(refused(p).find("a multiple of 2"), std::string::npos);
}

TEST(Sessions, ArePutTogetherFromAllRanks) {
  const auto session = session_of(
      {to_json({.register_us = {1}, .prepare_us = {3}, .rounds = {Round{}, Round{}}}, ""),
       to_json({.register_us = {2},
                .prepare_us = {4},
                .rounds =
                    {{.post_us = {5}, .done_us = {6}, .first_layer_us = {7}, .pairs = {{0, 1, 6}}},
                     Round{}}},
               "")});
  EXPECT_EQ(session.register_us, (std::vector<double>{1, 2}));
  EXPECT_EQ(session.prepare_us, (std::vector<double>{3, 4}));
  ASSERT_EQ(session.rounds.size(), 2U);
  EXPECT_EQ(session.rounds[0].done_us, std::vector<double>{6});
  ASSERT_EQ(session.rounds[0].pairs.size(), 1U);
  EXPECT_EQ(session.rounds[0].pairs[0].dst, 1);
  EXPECT_TRUE(session.rounds[1].post_us.empty());
}

// Each takes 10 us; the second begins when the first has ended.
TEST(Sessions, SpanFromTheFirstBeginToTheLastEnd) {
  const auto of_rank = [](std::uint64_t left_ns, const char* clock) {
    return to_json(
        {.rounds = {{.done_us = {10}, .meeting = {1000, left_ns}, .end_ns = left_ns + 10'000}}},
        clock);
  };
  const auto span_ns = [&](const char* second) {
    return session_of({of_rank(2000, "a"), of_rank(12'000, second)}).rounds[0].span_ns;
  };
  EXPECT_EQ(span_ns("a"), 20'000);
  // Of clocks that are not one: the second may have left at once.
  EXPECT_EQ(span_ns("b"), 21'000);
}

// It leaves the meeting when its first layer has come.
TEST(Sessions, HaveTheFirstLayerOfWhoIsToldSinceTheFirstBegin) {
  const auto origin = [](std::uint64_t left_ns) {
    return to_json({.rounds = {{.meeting = {1000, left_ns}, .end_ns = left_ns + 10'000}}}, "a");
  };
  const auto told = to_json({.rounds = {{.meeting = {1000, 9000}, .first_layer_ns = 9500}}}, "a");
  const auto session = session_of({origin(2500), origin(2000), told});
  EXPECT_EQ(session.rounds[0].first_layer_us, std::vector<double>{7.5});
}

TEST(Record, TellsFirstRoundsFromLaterOnes) {
  const Layout layout({.prefill = 1, .decode = 2, .layers = 2, .descriptors = 10, .bytes = 100});
  const Round first{
      .post_us = {1, 1}, .done_us = {10, 20}, .first_layer_us = {2, 2}, .span_ns = 20e3};
  const Round later{.post_us = {1, 2},
                    .done_us = {4, 10},
                    .first_layer_us = {3, 5},
                    .pairs = {{0, 1, 4}, {0, 2, 0.01}},
                    .span_ns = 10e3};
  const Round too_short{
      .post_us = {0.1, 0.1}, .done_us = {0.2, 0.1}, .first_layer_us = {0.1, 0.1}, .span_ns = 200};
  const auto record = record_of(
      {{.register_us = {1}, .prepare_us = {2}, .rounds = {first, later, too_short}}}, layout, 20);
  EXPECT_EQ(record.samples.at("first_round_GBps").values, std::vector<double>{0.1});
  EXPECT_EQ(record.samples.at("later_round_GBps").values, std::vector<double>{0.2});
  EXPECT_EQ(record.samples.at("descriptors_per_s").values, std::vector<double>{2e6});
  EXPECT_EQ(record.samples.at("post_us").values, (std::vector<double>{1, 2}));
  EXPECT_EQ(record.samples.at("transfer_us").values, (std::vector<double>{3, 8}));
  EXPECT_EQ(record.samples.at("posting_ratio").values, (std::vector<double>{0.25, 0.2}));
  EXPECT_EQ(record.samples.at("first_layer_us").values, (std::vector<double>{3, 5}));
  EXPECT_EQ(record.iterations, 3U);
  // Without the one that is too short.
  EXPECT_EQ(record.workload.at("pairs"), (Json{{{"src", 0}, {"dst", 1}, {"p50_GBps", 0.25}}}));
}

}  // namespace
}  // namespace ucxbench::kv
