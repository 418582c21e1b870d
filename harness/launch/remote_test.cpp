#include "harness/launch/remote.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/strangers.hpp"
#include "harness/launch/listener.hpp"
#include "harness/launch/supervisor.hpp"
#include "harness/launch/test_processes.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;
using State = LaunchOutcome::State;

const Identity self{"0.1.0", "test", "near"};
constexpr const char* token = "a-token-for-the-tests";

TEST(HostPort, IsCompletedAndChecked) {
  const auto is = [](const char* text, const char* host, const char* port) {
    const auto endpoint = parse_host_port(text);
    return endpoint.host == host && endpoint.port == port;
  };
  EXPECT_TRUE(is("", "127.0.0.1", "13337"));
  EXPECT_TRUE(is("node7", "node7", "13337"));
  EXPECT_TRUE(is("node7:1", "node7", "1"));
  EXPECT_TRUE(is(":99", "127.0.0.1", "99"));
  EXPECT_TRUE(is("[::1]:99", "::1", "99"));
  EXPECT_TRUE(is("[::1]", "::1", "13337"));
  for (const auto* bad : {"a:b", "a:", "a:65536", "::1", "a b", "[::1", "a/b", "h:123456"}) {
    EXPECT_THROW(parse_host_port(bad), Failure) << bad;
  }
}

int threads_of_this_process() {
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

bool is_open(const Fd& connection) {
  char none = 0;
  return ::recv(connection.get(), &none, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/// Sends `bytes` to the port, from 127.0.0.`from`, and keeps the connection open.
Fd knock(std::uint16_t port, const std::string& bytes, unsigned from = 1) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw Failure(Exit::cannot_run, "no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return fd;
}

class Remote : public testing::Test {
 protected:
  std::string port() const { return std::to_string(listener_.port()); }

  RemoteSupervisors gather(int count = 1, std::chrono::milliseconds limit = 10s) {
    said_.clear();
    return listener_.gather(count, self, token, limit, [&](const std::string& line) {
      said_.push_back(line);
      if (on_said_) on_said_();
    });
  }

  LaunchOutcome launch(const RemoteSupervisors& peers, const std::string& action, int who,
                       std::chrono::milliseconds timeout = 30s,
                       const std::vector<int>& hosts = {0, 1}) {
    Launch wanted;
    wanted.ranks.assign(static_cast<std::size_t>(std::ranges::count(hosts, 0)),
                        test_rank(action, who));
    wanted.hosts = hosts;
    wanted.timeout = timeout;
    wanted.told.assign(peers.size(), {{"any", "thing"}});
    wanted.on_report = [&](int, const std::string&, const Hub::Bytes& pid) {
      pids_.push_back(std::stoi(std::string(pid.begin(), pid.end())));
      if (on_up_ && pids_.size() == hosts.size()) on_up_();
    };
    return run_launch(wanted, signals_, peers);
  }

  Signals signals_;
  Listener listener_{{"127.0.0.1", "0"}};
  std::vector<std::string> said_;
  std::function<void()> on_said_;
  std::vector<pid_t> pids_;
  std::function<void()> on_up_;
};

TEST_F(Remote, PortInUseIsAUsageError) {
  try {
    const Listener second({"127.0.0.1", port()});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_EQ(failure.what(),
              fmt::format("cannot listen on 127.0.0.1 port {}: Address already in "
                          "use; give --listen IP:PORT an address of this host and a free port",
                          port()));
  }
}

TEST_F(Remote, RunsLaunchesAndSaysGoodbye) {
  TestProcess follower({"follow", port(), "nothing", "0"});
  const auto peers = gather();
  EXPECT_EQ(peers[0]->host(), "far");
  int clocks = 0;
  for (int i = 0; i < 3; ++i) {
    const auto outcome = launch(peers, "nothing", 0);
    EXPECT_EQ(outcome.reason, "");
    ASSERT_EQ(outcome.clocks.size(), 1U);
    for (const auto& clock : {outcome.clocks[0].before, outcome.clocks[0].after}) {
      if (!clock) continue;  // a trip took too long
      ++clocks;
      // It is one and the same.
      EXPECT_LE(std::abs(clock->offset_ns), static_cast<std::int64_t>(clock->uncertainty_ns));
      EXPECT_GT(clock->uncertainty_ns, 0U);
    }
  }
  EXPECT_GT(clocks, 0);
  // Whoever asks may be busy meanwhile for longer than a host may be silent.
  peers[0]->ask("an echo");
  std::this_thread::sleep_for(3s);
  EXPECT_EQ(peers[0]->answer(RemoteSupervisor::Clock::now() + 30s), "an echo");
  peers[0]->say_goodbye(Exit::gate, "a gate tripped");
  EXPECT_EQ(follower.line(), "0 1 a gate tripped");
  EXPECT_EQ(pids_.size(), 6U);
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, AnAnswerThatComesTooLateHarmsNoLaunch) {
  TestProcess follower({"follow", port(), "nothing", "0"});
  const auto peers = gather();
  on_up_ = [&] { peers[0]->ask("an echo"); };
  for (int i = 0; i < 10; ++i) {
    pids_.clear();
    EXPECT_EQ(launch(peers, "nothing", 0).reason, "");
  }
}

TEST_F(Remote, GoesOnListeningAfterUnknownClients) {
  const Fd http = knock(listener_.port(), "GET / HTTP/1.1\r\n\r\n");
  const Fd random = knock(listener_.port(), "\x01\x02\x03");
  std::unique_ptr<TestProcess> follower;
  on_said_ = [&] {
    if (said_.size() != 2) return;
    follower =
        std::make_unique<TestProcess>(std::vector<std::string>{"follow", port(), "nothing", "0"});
  };
  const auto peers = gather();
  const std::string refused = "refused a connection: the peer is not ucx-bench";
  EXPECT_EQ(said_, (std::vector<std::string>{refused, refused, "connected to far"}));
  EXPECT_EQ(launch(peers, "nothing", 0).reason, "");
}

TEST_F(Remote, ASilentClientHoldsUpNobody) {
  const Fd silent = knock(listener_.port(), "");
  const Fd halting = knock(listener_.port(), "ucx-bench");
  {
    TestProcess follower({"follow", port(), "nothing", "0"});
    const auto peers = gather();
    EXPECT_EQ(launch(peers, "nothing", 0).reason, "");
  }
  const Fd another = knock(listener_.port(), "");
  try {
    gather(1, 100ms);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
  }
  EXPECT_TRUE(said_.empty());
}

// Nor costs it a thread for each, of which a host may have few left.
TEST_F(Remote, AFloodOfClientsKeepsNobodyOut) {
  const Fd elsewhere = knock(listener_.port(), "", 2);
  std::vector<Fd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(knock(listener_.port(), ""));
  int threads = 0, open = 0;
  bool other_open = false;
  on_said_ = [&] {
    threads = threads_of_this_process();
    open = static_cast<int>(std::ranges::count_if(silent, is_open));
    other_open = is_open(elsewhere);
  };
  const auto threads_before = threads_of_this_process();
  TestProcess follower({"follow", port(), "nothing", "0"});
  const auto peers = gather(1, 30s);
  EXPECT_LE(threads, threads_before + 1);  // of the pulses
  EXPECT_GT(open, 0);
  EXPECT_LE(open, static_cast<int>(most_strangers_of_a_source + 1));  // beside one that is wanted
  EXPECT_TRUE(other_open);
  EXPECT_EQ(launch(peers, "nothing", 0).reason, "");
}

TEST_F(Remote, RanksOfThreeHosts) {
  TestProcess first({"follow", port(), "nothing", "0"});
  TestProcess second({"follow", port(), "nothing", "0"});
  const auto peers = gather(2);
  EXPECT_EQ(said_,
            (std::vector<std::string>{"connected to far (1 of 2)", "connected to far (2 of 2)"}));
  for (const auto& hosts : {std::vector{0, 0, 1, 1, 2, 2}, std::vector{0, 1, 2, 0, 1, 2}}) {
    pids_.clear();
    EXPECT_EQ(launch(peers, "nothing", 0, 30s, hosts).reason, "");
    EXPECT_EQ(pids_.size(), 6U);
    EXPECT_TRUE(all_dead(pids_));
  }
  for (const auto& peer : peers) peer->say_goodbye(Exit::done, "");
  EXPECT_EQ(first.line(), "0 0 ");
  EXPECT_EQ(second.line(), "0 0 ");
}

TEST_F(Remote, ALostHostEndsAllOthersRanks) {
  auto first =
      std::make_unique<TestProcess>(std::vector<std::string>{"follow", port(), "loop", "1"});
  TestProcess second({"follow", port(), "loop", "1"});
  const auto peers = gather(2);
  // Whichever came first: it is host 1.
  on_up_ = [&] { first->signal(SIGKILL); };
  const auto outcome = launch(peers, "loop", 1, 30s, {0, 1, 1, 2, 2});
  EXPECT_EQ(outcome.exit, Exit::lost);
  // That it has gone is seen first by who reads, or by who writes.
  const auto is = [&](const std::string& ranks) {
    return outcome.reason.starts_with("ranks " + ranks + " on far were lost: far");
  };
  EXPECT_TRUE(is("1, 2") || is("3, 4")) << outcome.reason;
  EXPECT_EQ(pids_.size(), 5U);
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, WaitsAgainForAHostThatHasLeft) {
  TestProcess leaves({"follow", port(), "nothing", "0"});
  std::vector<std::string> said;
  std::unique_ptr<TestProcess> others[2];
  const auto peers = listener_.gather(2, self, token, 30s, [&](const std::string& line) {
    said.push_back(line);
    if (said.size() == 1) leaves.signal(SIGINT);
    if (said.size() != 2) return;
    for (auto& other : others) {
      other =
          std::make_unique<TestProcess>(std::vector<std::string>{"follow", port(), "nothing", "0"});
    }
  });
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[1], "far: it left again");
  EXPECT_EQ(leaves.line(), "1 130 stopped by Ctrl-C");
  EXPECT_EQ(launch(peers, "nothing", 0, 30s, {0, 1, 2}).reason, "");
}

// Whoever stands between both sides can only end the connection, and both say what happened.
TEST_F(Remote, FramesFromElsewhereEndTheConnection) {
  TestProcess follower({"follow", port(), "loop", "1"});
  const auto peers = gather();
  // The first bytes of a frame that never comes.
  on_up_ = [&] { ::send(peers[0]->fd(), "\x06\0\0\0", 4, MSG_NOSIGNAL); };
  const auto outcome = launch(peers, "loop", 1);
  EXPECT_EQ(outcome.exit, Exit::lost);
  const std::string why =
      "near: a control message is not the next one that the other side sent: somebody on the way "
      "changed it, left one out or sent one again";
  EXPECT_TRUE(outcome.reason.starts_with("rank 1 on far was lost: far ended: " + why))
      << outcome.reason;
  EXPECT_EQ(follower.line(), "2 5 " + why);
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, NobodyComes) {
  try {
    gather(1, 100ms);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
  }
  const HostPort nobody{"127.0.0.1", "1"};
  try {
    connect_to_listener(nobody, self, token, 100ms);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
    EXPECT_EQ(std::string(failure.what()),
              "nobody listens on 127.0.0.1 port 1 (Connection refused): start the other side with "
              "--listen");
  }
}

TEST_F(Remote, BlamesTheRankOnTheOtherHost) {
  for (const auto& [action, text] : {std::pair{"kill", "was killed by signal 9 (Killed)"},
                                     std::pair{"stop", "was stopped by signal 19 (SIGSTOP)"},
                                     std::pair{"hang", "made no progress for 5 s"}}) {
    const auto attempt = [&] {
      pids_.clear();
      TestProcess follower({"follow", port(), action, "1"});
      const auto peers = gather();
      auto outcome = launch(peers, action, 1, 5s);
      EXPECT_EQ(outcome.exit, Exit::lost);
      EXPECT_EQ(outcome.reason, fmt::format("rank 1 on far {} in phase \"work\"", text));
      EXPECT_TRUE(all_dead(pids_));
      // The connection has outlived the launch.
      peers[0]->say_goodbye(outcome.exit, outcome.reason);
      EXPECT_EQ(follower.line(), "2 5 " + outcome.reason);
      return outcome;
    };
    const bool dies = action == std::string("kill");
    // There is a limit to the time that stacks of another host take.
    const auto as_it_should = [dies](const LaunchOutcome& outcome) {
      return dies ? outcome.stacks.empty()
                  : outcome.stacks.find("rank 1 on far in phase ") != std::string::npos &&
                        names_function(outcome.stacks, "main");
    };
    const auto outcome = in_some_attempt(attempt, as_it_should);
    EXPECT_TRUE(as_it_should(outcome)) << outcome.stacks;
  }
}

TEST_F(Remote, CarriesAFailureFromTheOtherHost) {
  TestProcess follower({"follow", port(), "wrong", "1"});
  const auto peers = gather();
  const auto outcome = launch(peers, "wrong", 1);
  EXPECT_EQ(outcome.exit, Exit::wrong_data);
  EXPECT_EQ(outcome.reason, "rank 1 on far failed in phase \"work\": byte 7 from rank 0 is wrong");
}

TEST_F(Remote, NoticesADeadAndASilentHost) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    pids_.clear();
    TestProcess follower({"follow", port(), "loop", "1"});
    const auto peers = gather();
    on_up_ = [&] { follower.signal(signal); };
    const auto outcome = launch(peers, "loop", 1);
    EXPECT_EQ(outcome.exit, Exit::lost);
    EXPECT_NE(outcome.reason.find("rank 1 on far was lost: "), std::string::npos) << outcome.reason;
    if (signal == SIGSTOP) follower.signal(SIGKILL);
    EXPECT_TRUE(all_dead(pids_));
  }
}

TEST_F(Remote, EndsTheRankThereWhenThisSideDisappears) {
  TestProcess follower({"follow", port(), "loop", "1"});
  auto peers = gather();
  on_up_ = [&] { ::shutdown(peers[0]->fd(), SHUT_RDWR); };
  EXPECT_EQ(launch(peers, "loop", 1).exit, Exit::lost);
  peers.clear();
  EXPECT_EQ(follower.line(), fmt::format("2 5 near closed the control connection"));
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, CtrlCOnTheOtherHost) {
  for (const auto& [action, signal] : {std::pair{"loop", SIGINT}, std::pair{"hang", SIGTERM}}) {
    const auto attempt = [&] {
      pids_.clear();
      TestProcess follower({"follow", port(), action, "1"});
      const auto peers = gather();
      on_up_ = [&] { follower.signal(signal); };
      auto outcome = launch(peers, action, 1);
      EXPECT_EQ(outcome.state, State::interrupted);
      EXPECT_EQ(outcome.exit, Exit::interrupted);
      EXPECT_TRUE(all_dead(pids_));
      return outcome;
    };
    // That host leaves at once where this one takes too long to end the run.
    const auto outcome = in_some_attempt(
        attempt, [](const auto& end) { return end.reason == "stopped by Ctrl-C on far"; });
    EXPECT_EQ(outcome.reason, "stopped by Ctrl-C on far");
  }
}

}  // namespace
}  // namespace ucxbench
