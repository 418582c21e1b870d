// What every device must do alike, among several numbers of ranks. Those of MPI are processes that
// mpirun has started: each of them runs the same cases.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "harness/comm/all_to_all.hpp"
#include "harness/comm/communicator.hpp"
#include "harness/comm/meeting_for_test.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

struct Tested {
  std::string name;
  CommSetup setup;
};

std::vector<Tested> all_devices(const std::string& mode) {
  CommSetup setup;
  setup.progress = ProgressMode::parse(mode);
  std::vector<Tested> all = {{"ucx_" + mode, setup}};
  setup.kind = CommKind::sockets;
  setup.net_devices = "lo";
  for (const std::string member : {"tcp", "shm"}) {
    setup.transports = {member};
    all.push_back({fmt::format("sockets_{}_{}", member, mode), setup});
  }
  return all;
}

/// Of this process among those of mpirun, "RANK" or "SIZE"; 0 where it has not started it.
int number_by_mpirun(const std::string& name) {
  const char* value = std::getenv(("OMPI_COMM_WORLD_" + name).c_str());
  return value == nullptr ? 0 : std::atoi(value);
}

std::vector<Tested> device_of_mpirun() {
  if (number_by_mpirun("SIZE") == 0) return {};
  CommSetup setup;
  setup.kind = CommKind::mpi;
  return {{"mpi", setup}};
}

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, int seed) {
  Bytes bytes(size);
  constexpr std::size_t period = 251;
  for (std::size_t i = 0; i < std::min(size, period); ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  }
  for (std::size_t have = period; have < size; have *= 2) {
    std::memcpy(&bytes[have], bytes.data(), std::min(have, size - have));
  }
  return bytes;
}

class Devices : public testing::TestWithParam<std::tuple<Tested, int>> {
 protected:
  void SetUp() override {
    ::setenv("UCX_TLS", "tcp", 1);
    ::setenv("UCX_NET_DEVICES", "lo", 1);
  }

  static int ranks() { return std::get<1>(GetParam()); }

  /// Each rank is a thread; they end together. `fails`: some of them can communicate no more then.
  static void play(const std::function<void(Communicator&)>& part, bool fails = false) {
    Meeting meeting;
    if (std::get<0>(GetParam()).setup.kind == CommKind::mpi) {
      MeetingRank rendezvous(meeting, number_by_mpirun("RANK"), ranks());
      Communicator comm(rendezvous, std::get<0>(GetParam()).setup);
      part(comm);
      if (!fails) comm.barrier();
      return;
    }
    const auto rank = [&](int number) {
      MeetingRank rendezvous(meeting, number, ranks());
      Communicator comm(rendezvous, std::get<0>(GetParam()).setup);
      part(comm);
      if (!fails) {
        comm.barrier();
        rendezvous.barrier([&] { comm.progress(); });
      }
      rendezvous.barrier([] {});
    };
    std::vector<std::future<void>> all;
    for (int number = 1; number < ranks(); ++number) {
      all.push_back(std::async(std::launch::async, rank, number));
    }
    rank(0);
    for (auto& each : all) each.get();
  }

  static void for_each_peer(const Communicator& comm, const std::function<void(int)>& visit) {
    for (int peer = 0; peer < comm.size(); ++peer) {
      if (peer != comm.rank()) visit(peer);
    }
  }
};

TEST_P(Devices, GiveEachRankWhatIsItsOwn) {
  play([](Communicator& comm) {
    EXPECT_EQ(comm.size(), ranks());
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<std::vector<std::uint64_t>> words;
      const auto from = static_cast<std::uint64_t>(comm.rank());
      for (std::uint64_t to = 0; to < static_cast<std::uint64_t>(ranks()); ++to) {
        words.push_back({round, from, to});
      }
      const auto theirs = all_to_all(comm, words);
      for (std::uint64_t other = 0; other < theirs.size(); ++other) {
        EXPECT_EQ(theirs[other], (std::vector<std::uint64_t>{round, other, from}));
      }
    }
  });
}

// Of all sizes, also none, and more than any buffer on the way holds. Half of them come before
// their receive is posted, and all in another order than the receives.
TEST_P(Devices, MatchByLabel) {
  static const std::vector<std::size_t> sizes = {0, 1, 3'000'000, 1000, 70'000, 500'000, 8, 0};
  constexpr std::uint64_t apart = label_count / 2 / 8;
  play([](Communicator& comm) {
    Batch all;
    std::vector<Bytes> sent;
    for (std::size_t label = 0; label < sizes.size(); ++label) {
      sent.push_back(pattern(sizes[label], comm.rank() + static_cast<int>(label)));
    }
    std::vector<std::vector<Bytes>> received(static_cast<std::size_t>(comm.size()));
    const auto receive = [&](int peer, std::size_t label) {
      auto& place = received[static_cast<std::size_t>(peer)][label];
      place.resize(sizes[label]);
      comm.receive(peer, apart * label, place, all);
    };
    for_each_peer(comm, [&](int peer) {
      received[static_cast<std::size_t>(peer)].resize(sizes.size());
      for (std::size_t label = 1; label < sizes.size(); label += 2) receive(peer, label);
    });
    for_each_peer(comm, [&](int peer) {
      for (std::size_t label = sizes.size(); label-- > 0;) {
        comm.send(peer, apart * label, sent[label], all);
      }
    });
    comm.barrier();  // what fits on the way has come
    for_each_peer(comm, [&](int peer) {
      for (std::size_t label = 0; label < sizes.size(); label += 2) receive(peer, label);
    });
    comm.wait(all);
    for_each_peer(comm, [&](int peer) {
      for (std::size_t label = 0; label < sizes.size(); ++label) {
        EXPECT_EQ(received[static_cast<std::size_t>(peer)][label],
                  pattern(sizes[label], peer + static_cast<int>(label)))
            << peer << " to " << comm.rank() << ", label " << label;
      }
    });
  });
}

// More than the kernel, or a library, keeps of small messages.
TEST_P(Devices, TakeManySmallMessages) {
  constexpr std::uint32_t count = 500;
  play([](Communicator& comm) {
    Batch all;
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    const auto peers = static_cast<std::size_t>(comm.size());
    std::vector<std::vector<std::uint32_t>> received(peers, std::vector<std::uint32_t>(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      for_each_peer(comm, [&](int peer) {
        auto& place = received[static_cast<std::size_t>(peer)];
        comm.receive(peer, i, std::as_writable_bytes(std::span(place).subspan(i, 1)), all);
        comm.send(peer, i, std::as_bytes(std::span(numbers).subspan(i, 1)), all);
      });
      comm.progress();
    }
    comm.wait(all);
    for_each_peer(comm, [&](int peer) {
      EXPECT_EQ(received[static_cast<std::size_t>(peer)], numbers) << peer;
    });
  });
}

TEST_P(Devices, LogEachMessage) {
  play([](Communicator& comm) {
    TransferLog log(100);
    comm.log_into(&log, 7);
    Batch all;
    const Bytes sent(100);
    std::vector<Bytes> received(static_cast<std::size_t>(comm.size()), Bytes(100));
    for_each_peer(comm, [&](int peer) {
      comm.receive(peer, 1, received[static_cast<std::size_t>(peer)], all);
      comm.send(peer, 1, sent, all);
    });
    comm.wait(all);
    comm.barrier();
    comm.log_into(nullptr, 0);
    EXPECT_EQ(log.records().size(), 2 * static_cast<std::size_t>(comm.size() - 1));
    for (const auto& transfer : log.records()) {
      EXPECT_EQ(transfer.iteration, 7U);
      EXPECT_EQ(transfer.bytes, 100U);
      EXPECT_GE(transfer.completed_ns, transfer.posted_ns);
    }
  });
}

TEST_P(Devices, NameTheirLanes) {
  play([](Communicator& comm) {
    for_each_peer(comm, [&](int peer) {
      const auto lanes = comm.lanes(peer);
      // What MPI's way over UCX takes it does not say.
      const auto pml = comm.effective().find("pml");
      EXPECT_EQ(lanes.empty(), pml != comm.effective().end() && pml->second == "ucx");
      for (const auto& lane : lanes) EXPECT_NE(lane.find('/'), std::string::npos) << lane;
      EXPECT_FALSE(comm.effective().empty());
    });
  });
}

class Pairs : public Devices {};

TEST_P(Pairs, RefuseAnotherLength) {
  play(
      [](Communicator& comm) {
        Batch all;
        Bytes bytes(10);
        if (comm.rank() == 0) {
          comm.send(1, 1, {bytes.data(), 9}, all);
          return comm.wait(all);
        }
        try {  // what came before its receive is refused at once
          comm.receive(0, 1, bytes, all);
          comm.wait(all);
          ADD_FAILURE() << "took it";
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.exit(), Exit::wrong_data);
        }
      },
      true);
}

std::string name_of(const testing::TestParamInfo<std::tuple<Tested, int>>& tested) {
  return fmt::format("{}_{}", std::get<0>(tested.param).name, std::get<1>(tested.param));
}

// Where ranks poll for each other, more of them than processors take long.
INSTANTIATE_TEST_SUITE_P(Event, Devices,
                         testing::Combine(testing::ValuesIn(all_devices("event")),
                                          testing::Values(1, 2, 3, 4, 5, 8)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Poll, Devices,
                         testing::Combine(testing::ValuesIn(all_devices("poll")),
                                          testing::Values(1, 2)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Mpi, Devices,
                         testing::Combine(testing::ValuesIn(device_of_mpirun()),
                                          testing::Values(number_by_mpirun("SIZE"))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Mpi, Pairs,
                         testing::Combine(testing::ValuesIn(number_by_mpirun("SIZE") == 2
                                                                ? device_of_mpirun()
                                                                : std::vector<Tested>{}),
                                          testing::Values(2)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Pairs,
                         testing::Combine(testing::ValuesIn(all_devices("event")),
                                          testing::Values(2)),
                         name_of);

}  // namespace
}  // namespace ucxbench
