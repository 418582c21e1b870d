#include "bench/pingpong/ucx_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/pingpong/measure.hpp"
#include "bench/pingpong/pair.hpp"
#include "harness/comm/endpoint.hpp"
#include "harness/comm/meeting_for_test.hpp"

namespace ucxbench::pingpong {
namespace {

/// One rank of a pair, which is a thread of this process with a UCX of its own.
class Player {
 public:
  Player(Meeting& meeting, int rank, Api api)
      : rendezvous_(meeting, rank, 2), pair(rendezvous_), worker_(api, {}) {
    const auto address = exchange_address(worker_, rendezvous_, pair.peer(), "test", progress);
    endpoint_.emplace(connect_to_address(worker_, address, rank, pair.peer()));
    const auto endpoint = endpoint_->handle();
    loops = make_ucx_loops(api, {}, pair.role(), clock_, worker_, {&endpoint, 1},
                           [this](const auto& own) { return pair.exchange(own, progress); });
    expose(*loops, api, send, receive);
    loops->meet();
  }
  ~Player() {
    rendezvous_.barrier([this] { loops->turn(); });
    loops.reset();
    endpoint_->close(progress);
    rendezvous_.barrier(progress);
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void use(std::size_t bytes, int window) {
    loops->use({.send = send.data(),
                .receive = receive.data(),
                .bytes = bytes,
                .window = window,
                .form = form});
    loops->meet();
  }

 private:
  MeetingRank rendezvous_;
  Clock clock_ = Clock::calibrate();

 public:
  Pair pair;

 private:
  UcxWorker worker_;
  std::optional<UcxEndpoint> endpoint_;

 public:
  Rendezvous::Progress progress = [this] { ucp_worker_progress(worker_.handle()); };
  Buffer send{MemoryKind::host, std::size_t{1} << 20U};
  Buffer receive{MemoryKind::host, std::size_t{1} << 20U};
  MessageForm form{};
  std::unique_ptr<Loops> loops;
};

template <typename Play>
void both(Api api, Play play) {
  Meeting meeting;
  const auto rank = [&](int number) {
    Player player(meeting, number, api);
    play(player);
  };
  auto follower = std::async(std::launch::async, rank, 1);
  rank(0);
  follower.get();
}

class UcxLoops : public testing::TestWithParam<std::tuple<const char*, Api>> {
 protected:
  void SetUp() override {
    ::setenv("UCX_TLS", std::get<0>(GetParam()), 1);
    ::setenv("UCX_NET_DEVICES", "lo", 1);
  }
  Api api() const { return std::get<1>(GetParam()); }
};

std::string name_of_test(const testing::TestParamInfo<std::tuple<const char*, Api>>& of) {
  return std::string(std::get<0>(of.param)) + "_" + std::string(to_string(std::get<1>(of.param)));
}

class Payloads : public UcxLoops {};
INSTANTIATE_TEST_SUITE_P(Over, Payloads,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Api::tag, Api::am, Api::put, Api::get)),
                         name_of_test);

TEST_P(Payloads, ArriveInEveryLoop) {
  both(api(), [&](Player& p) {
    const std::uint64_t own = p.pair.leads() ? 100 : 200;
    const std::uint64_t peers = p.pair.leads() ? 200 : 100;
    for (const std::size_t bytes : {1U, 8U, 5000U, 1U << 20U}) {
      // The last byte of a put is its number, unless it is carried out alone.
      const auto compared = bytes - (api() == Api::put ? 1 : 0);
      p.send.fill(bytes, own);
      p.receive.poison(bytes);
      p.use(bytes, 1);
      std::vector<std::uint64_t> stamps(6);
      EXPECT_GT(p.loops->round_trips(5, stamps.data()).length(), 0U);
      if (p.pair.leads()) {
        EXPECT_TRUE(std::ranges::is_sorted(stamps) && stamps[0] > 0);
      }
      if (p.pair.leads() || api() != Api::get) {
        EXPECT_FALSE(p.receive.mismatch(compared, peers)) << bytes;
      }
      p.receive.poison(bytes);
      p.use(bytes, 4);
      p.loops->meet();
      EXPECT_GT(p.loops->both_ways(9).length(), 0U);
      EXPECT_FALSE(p.receive.mismatch(compared, peers)) << bytes;
      p.receive.poison(bytes);
      p.use(bytes, 4);
      EXPECT_GT(p.loops->one_way(9).length(), 0U);
      p.loops->meet();
      if ((api() == Api::get) == p.pair.leads()) {
        EXPECT_FALSE(p.receive.mismatch(compared, peers)) << bytes;
      }
      auto* one_sided = p.loops->one_sided();
      EXPECT_EQ(one_sided != nullptr, is_one_sided(api()));
      if (one_sided == nullptr) continue;
      p.send.fill(bytes, own + 1);
      p.receive.poison(bytes);
      p.loops->meet();
      one_sided->carry_out(1);
      p.loops->meet();
      EXPECT_FALSE(p.receive.mismatch(bytes, peers + 1)) << bytes;
      p.loops->meet();
    }
  });
}

// Each way to tell UCX of a message, in every loop.
class Forms : public UcxLoops {};
INSTANTIATE_TEST_SUITE_P(Over, Forms,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Api::tag, Api::stream, Api::am, Api::put,
                                                          Api::get)),
                         name_of_test);

TEST_P(Forms, CarryWhatWasSent) {
  constexpr std::size_t longest_header = 8000;
  both(api(), [&](Player& p) {
    Buffer header(MemoryKind::host, longest_header);
    Buffer received_header(MemoryKind::host, longest_header);
    std::vector<MessageForm> forms;
    if (!is_one_sided(api())) forms.insert(forms.end(), {{.entries = 1}, {.entries = 7}});
    if (api() == Api::tag) forms.push_back({.unexpected = true});
    if (api() == Api::tag) forms.push_back({.entries = 3, .unexpected = true});
    if (api() != Api::stream) forms.push_back({.registered = true});
    if (api() == Api::am) {
      for (const std::size_t bytes : {std::size_t{1}, longest_header}) {
        forms.push_back({.entries = 3,
                         .header = header.data(),
                         .received_header = received_header.data(),
                         .header_bytes = bytes});
      }
    }
    const std::uint64_t own = p.pair.leads() ? 100 : 200;
    const std::uint64_t peers = p.pair.leads() ? 200 : 100;
    for (const auto& form : forms) {
      p.form = form;
      for (const std::size_t bytes : {8U, 5000U, (1U << 20U) - 1}) {
        p.send.fill(bytes, own);
        p.receive.poison(bytes);
        header.fill(form.header_bytes, own + bytes);
        received_header.poison(form.header_bytes);
        p.use(bytes, 1);
        p.loops->round_trips(3, nullptr);
        if (p.pair.leads() || api() != Api::get) {
          EXPECT_FALSE(p.receive.mismatch(bytes - (api() == Api::put ? 1 : 0), peers)) << bytes;
        }
        EXPECT_FALSE(received_header.mismatch(form.header_bytes, peers + bytes)) << bytes;
        p.use(bytes, 4);
        p.receive.poison(bytes);
        p.loops->meet();
        p.loops->both_ways(9);
        EXPECT_FALSE(p.receive.mismatch(bytes - (api() == Api::put ? 1 : 0), peers)) << bytes;
        p.use(bytes, 4);
        p.loops->one_way(9);
        p.loops->meet();
        p.receive.poison(bytes);
        p.loops->meet();
        p.loops->described();
        p.loops->meet();
        if ((api() == Api::get) == p.pair.leads()) {
          EXPECT_FALSE(p.receive.mismatch(bytes - (api() == Api::put ? 1 : 0), peers)) << bytes;
        }
      }
    }
    p.form = {};
  });
}

class ManyPlaces : public UcxLoops {};
INSTANTIATE_TEST_SUITE_P(Over, ManyPlaces,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Api::tag, Api::stream, Api::am)),
                         name_of_test);

TEST_P(ManyPlaces, AreUsedInTurn) {
  both(api(), [&](Player& p) {
    constexpr std::size_t places = 8;
    for (const std::size_t bytes : {8U, 5000U, 100'000U}) {
      const LinkBuffers buffers{.send = p.send.data(),
                                .receive = p.receive.data(),
                                .bytes = bytes,
                                .window = 2,
                                .places = places};
      // A byte says who sent it, and which message of theirs it was.
      const auto byte_of = [](bool leads, std::size_t message) {
        return static_cast<std::byte>(16 * (leads ? 1 : 2) + message);
      };
      for (std::size_t at = 0; at < places; ++at) {
        std::fill_n(p.send.data() + buffers.offset(at), bytes, byte_of(p.pair.leads(), at));
      }
      p.receive.poison(p.receive.size());
      p.loops->use(buffers);
      p.loops->meet();
      p.loops->round_trips(3, nullptr);
      p.loops->meet();
      p.loops->both_ways(places - 3);
      for (std::size_t at = 0; at < places; ++at) {
        const auto* begin = p.receive.data() + buffers.offset(at);
        const auto sent = byte_of(!p.pair.leads(), at);
        EXPECT_TRUE(std::all_of(begin, begin + bytes, [&](auto byte) { return byte == sent; }))
            << bytes << ", message " << at;
      }
    }
  });
}

class Exposed : public UcxLoops {};
INSTANTIATE_TEST_SUITE_P(Over, Exposed,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Api::put, Api::get)),
                         name_of_test);

TEST_P(Exposed, MemoryThatIsWithdrawnMayGoAndAnotherComes) {
  both(api(), [&](Player& p) {
    p.loops->one_sided()->withdraw();
    p.send = Buffer(MemoryKind::host, 4096);
    p.receive = Buffer(MemoryKind::host, 4096);
    p.send.fill(4096, p.pair.leads() ? 1 : 2);
    expose(*p.loops, api(), p.send, p.receive);
    p.use(4096, 1);
    p.loops->one_sided()->carry_out(1);
    p.loops->meet();
    EXPECT_FALSE(p.receive.mismatch(4096, p.pair.leads() ? 2 : 1));
  });
}

class Values : public UcxLoops {};
INSTANTIATE_TEST_SUITE_P(Over, Values,
                         testing::Combine(testing::Values("tcp", "sm"),
                                          testing::Values(Api::fadd, Api::swap, Api::cswap)),
                         name_of_test);

TEST_P(Values, AreRightAndAWrongOneIsNoticed) {
  both(api(), [&](Player& p) {
    for (const std::size_t bytes : {4U, 8U}) {
      auto* one_sided = p.loops->one_sided();
      p.use(bytes, 1);
      p.loops->meet();  // the target has its first value
      p.loops->round_trips(7, nullptr);
      EXPECT_EQ(one_sided->wrong_value(), "");
      p.loops->meet();
      p.use(bytes, 4);
      p.loops->meet();
      p.loops->one_way(9);
      EXPECT_EQ(one_sided->wrong_value(), "");
      p.loops->meet();  // the target has looked
      one_sided->exchange_words(1);
      one_sided->exchange_words(2);
      EXPECT_EQ(one_sided->wrong_value(), "");
      p.loops->meet();
      if (!p.pair.leads()) {
        p.receive.data()[1] ^= std::byte{1};
        EXPECT_NE(one_sided->wrong_value().find("the target has 0x"), std::string::npos);
      }
      p.loops->meet();
      // What the target has meanwhile is what the lead finds.
      one_sided->exchange_words(3);
      if (p.pair.leads()) {
        EXPECT_NE(one_sided->wrong_value().find(" found 0x"), std::string::npos);
      }
      p.loops->meet();
    }
  });
}

}  // namespace
}  // namespace ucxbench::pingpong
