// Several threads of a rank over UCX, and several endpoints, as a case measures them.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <future>
#include <string>
#include <tuple>

#include "bench/pingpong/measure.hpp"
#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/verify.hpp"
#include "harness/comm/meeting_for_test.hpp"

namespace ucxbench::pingpong {
namespace {

constexpr unsigned iterations = 7;

// `play` on both ranks of a pair, each a thread of this process with a UCX and threads of its own.
template <typename Play>
void both(const Parameters& p, Play play) {
  Meeting meeting;
  const auto rank = [&](int number) {
    MeetingRank rendezvous(meeting, number, 2);
    Pair pair(rendezvous);
    const auto clock = Clock::calibrate();
    const auto device = make_ucx_pair(p, false, {});
    auto loops = device->connect(pair, clock, "test");
    const Rendezvous::Progress progress = [&] { device->progress(); };
    Buffer send(MemoryKind::host, p.buffer_bytes());
    Buffer receive(MemoryKind::host, p.buffer_bytes());
    expose(*loops, p.api, send, receive);
    loops->meet();
    play(Bench{pair, *loops, *loops, clock, send, receive, progress});
    rendezvous.barrier(progress);
    loops.reset();
    device->close();
    rendezvous.barrier(progress);
  };
  auto follower = std::async(std::launch::async, rank, 1);
  rank(0);
  follower.get();
}

Parameters two_threads(Api api, std::uint64_t bytes, Workers workers) {
  Parameters p;
  p.api = api;
  p.bytes = bytes;
  p.threads = 2;
  p.workers = workers;
  p.window = 4;
  p.iterations = iterations;
  p.warmup_runs = 0;
  p.check = Check::full;
  return p;
}

class Threads : public testing::TestWithParam<std::tuple<const char*, Workers>> {
 protected:
  void SetUp() override {
    ::setenv("UCX_TLS", std::get<0>(GetParam()), 1);
    ::setenv("UCX_NET_DEVICES", "lo", 1);
  }
  Workers workers() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Over, Threads,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Workers::own, Workers::shared)),
                         [](const auto& of) {
                           return std::string(std::get<0>(of.param)) + "_" +
                                  std::string(to_string(std::get<1>(of.param)));
                         });

void expect_sound(const Parameters& p) {
  both(p, [&](const Bench& bench) {
    const auto measured = measure(bench, p, [](const LaunchRecord&) {});
    if (!bench.pair.leads()) return;
    const auto what = std::string(to_string(p.api)) + " of " + std::to_string(p.bytes);
    EXPECT_EQ(measured.checks.error, "") << what;
    EXPECT_EQ(measured.record.iterations, iterations * static_cast<unsigned>(p.threads)) << what;
    EXPECT_EQ(measured.record.messages, iterations * static_cast<unsigned>(p.threads)) << what;
    // Of each thread and side.
    EXPECT_GE(measured.checks.verified.checked, 2U * static_cast<unsigned>(p.threads)) << what;
    EXPECT_EQ(measured.checks.verified.errors, 0U) << what;
  });
}

TEST_P(Threads, OfEveryOperationHaveRightPayloads) {
  for (const auto api : {Api::tag, Api::stream, Api::am, Api::put, Api::get}) {
    expect_sound(two_threads(api, 100'001, workers()));
  }
  expect_sound(two_threads(Api::fadd, 8, workers()));
}

TEST_P(Threads, AndTheirEndpointsTakeTurns) {
  auto p = two_threads(Api::stream, 5000, workers());
  p.endpoints = 3;
  p.bidirectional = true;
  expect_sound(p);
  if (workers() == Workers::shared) return;
  p.api = Api::tag;
  p.threads = 1;
  expect_sound(p);
}

TEST_P(Threads, AWrongByteOfTheSecondIsItsOwn) {
  const auto p = two_threads(Api::tag, 5000, workers());
  both(p, [&](const Bench& bench) {
    Verifier verifier(bench, p, bench.progress);
    verifier.fill();
    const auto second = bench.send.size() / 2;
    if (bench.pair.leads()) bench.send.data()[second + 17] ^= std::byte{1};
    bench.loops.use(bench.buffers(p.bytes, 1, false));
    bench.loops.meet();
    bench.loops.round_trips(1, nullptr);
    verifier.compare(bench.loops, "in a test");
    const auto checks = verifier.outcome();
    if (!bench.pair.leads()) return;
    EXPECT_EQ(checks.verified.errors, 1U) << "the first thread's is right";
    EXPECT_EQ(checks.error,
              "wrong data at byte offset 17 of 5000: rank 1 received from rank 0 by tag on thread "
              "1, in a test");
  });
}

// Else there would be more of them than checks.
TEST_P(Threads, AHeaderIsCheckedWithItsMessage) {
  auto p = two_threads(Api::am, 64, workers());
  p.threads = 1;
  std::array<std::array<std::byte, 32>, 2> own{};
  std::array<std::array<std::byte, 32>, 2> received{};
  both(p, [&](const Bench& whole) {
    const auto rank = static_cast<std::size_t>(whole.pair.rendezvous().rank());
    auto bench = whole;
    bench.form = {.header = own.at(rank).data(),
                  .received_header = received.at(rank).data(),
                  .header_bytes = own.at(rank).size()};
    Verifier verifier(bench, p, bench.progress);
    verifier.fill();
    if (bench.pair.leads()) own.front()[3] ^= std::byte{1};
    if (bench.pair.leads()) bench.send.data()[5] ^= std::byte{1};
    bench.loops.use(bench.buffers(p.bytes, 1, false));
    bench.loops.meet();
    bench.loops.round_trips(1, nullptr);
    verifier.compare(bench.loops, "in a test");
    const auto checks = verifier.outcome();
    if (!bench.pair.leads()) return;
    EXPECT_EQ(checks.verified.checked, 2U);
    EXPECT_EQ(checks.verified.errors, 1U);
  });
}

}  // namespace
}  // namespace ucxbench::pingpong
