#include "harness/launch/remote.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

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

/// Sends `bytes` to the port and keeps the connection open.
Fd knock(std::uint16_t port, const std::string& bytes) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw Failure(Exit::cannot_run, "no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return fd;
}

class Remote : public testing::Test {
 protected:
  std::string port() const { return std::to_string(listener_.port()); }

  std::unique_ptr<RemoteSupervisor> accept(std::chrono::milliseconds limit = 10s) {
    return listener_.accept(self, token, limit,
                            [&](const std::string& line) { refused_.push_back(line); });
  }

  LaunchOutcome launch(RemoteSupervisor& peer, const std::string& action, int who,
                       std::chrono::milliseconds timeout = 30s) {
    Launch wanted;
    wanted.ranks = {test_rank(action, who)};
    wanted.timeout = timeout;
    wanted.remote = {{"any", "thing"}};
    wanted.on_report = [&](int, const std::string&, const Hub::Bytes& pid) {
      pids_.push_back(std::stoi(std::string(pid.begin(), pid.end())));
      if (on_up_ && pids_.size() == 2) on_up_();
    };
    return run_launch(wanted, signals_, &peer);
  }

  Signals signals_;
  Listener listener_{{"127.0.0.1", "0"}};
  std::vector<std::string> refused_;
  std::vector<pid_t> pids_;
  std::function<void()> on_up_;
};

TEST_F(Remote, PortInUseIsAUsageError) {
  try {
    const Listener second({"127.0.0.1", port()});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_EQ(failure.what(), fmt::format("cannot listen on 127.0.0.1 port {}: Address already in "
                                          "use; name another address with --listen IP:PORT",
                                          port()));
  }
}

TEST_F(Remote, RunsLaunchesAndSaysGoodbye) {
  TestProcess follower({"follow", port(), "nothing", "0"});
  const auto peer = accept();
  EXPECT_EQ(peer->host(), "far");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch(*peer, "nothing", 0).reason, "");
  peer->say_goodbye(Exit::gate, "a gate tripped");
  EXPECT_EQ(follower.line(), "0 1 a gate tripped");
  EXPECT_EQ(pids_.size(), 6U);
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, GoesOnListeningAfterStrangers) {
  const Fd http = knock(listener_.port(), "GET / HTTP/1.1\r\n\r\n");
  const Fd random = knock(listener_.port(), "\x01\x02\x03");
  TestProcess follower({"follow", port(), "nothing", "0"});
  const auto peer = accept();
  EXPECT_EQ(refused_,
            std::vector<std::string>(2, "refused a connection: the peer is not ucx-bench"));
  EXPECT_EQ(launch(*peer, "nothing", 0).reason, "");
}

TEST_F(Remote, ASilentStrangerHoldsUpNobody) {
  const Fd silent = knock(listener_.port(), "");
  const Fd halting = knock(listener_.port(), "ucx-bench");
  {
    TestProcess follower({"follow", port(), "nothing", "0"});
    const auto peer = accept();
    EXPECT_EQ(launch(*peer, "nothing", 0).reason, "");
  }
  const Fd another = knock(listener_.port(), "");
  try {
    accept(100ms);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
  }
  // Who was waited for would have been refused first.
  EXPECT_TRUE(refused_.empty());
}

// Whoever stands between both sides can only end the connection.
TEST_F(Remote, FramesFromElsewhereEndTheConnection) {
  TestProcess follower({"follow", port(), "loop", "1"});
  const auto peer = accept();
  on_up_ = [&] { ::send(peer->fd(), "\x06\0\0\0", 4, MSG_NOSIGNAL); };
  EXPECT_EQ(launch(*peer, "loop", 1).exit, Exit::lost);
  const auto said = follower.line();
  EXPECT_EQ(said.find("2 5 "), 0U) << said;
  EXPECT_NE(said.find("not the next one that the other side sent"), std::string::npos) << said;
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, NobodyComes) {
  try {
    accept(100ms);
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
                                     std::pair{"hang", "made no progress for 2.5 s"}}) {
    pids_.clear();
    TestProcess follower({"follow", port(), action, "1"});
    const auto peer = accept();
    const auto outcome = launch(*peer, action, 1, 2500ms);
    EXPECT_EQ(outcome.exit, Exit::lost);
    EXPECT_EQ(outcome.reason, fmt::format("rank 1 on far {} in phase \"work\"", text));
    EXPECT_TRUE(all_dead(pids_));
    // The connection has outlived the launch.
    peer->say_goodbye(outcome.exit, outcome.reason);
    EXPECT_EQ(follower.line(), "2 5 " + outcome.reason);
  }
}

TEST_F(Remote, CarriesAFailureFromTheOtherHost) {
  TestProcess follower({"follow", port(), "wrong", "1"});
  const auto peer = accept();
  const auto outcome = launch(*peer, "wrong", 1);
  EXPECT_EQ(outcome.exit, Exit::wrong_data);
  EXPECT_EQ(outcome.reason, "rank 1 on far failed in phase \"work\": byte 7 from rank 0 is wrong");
}

TEST_F(Remote, NoticesADeadAndASilentHost) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    pids_.clear();
    TestProcess follower({"follow", port(), "loop", "1"});
    const auto peer = accept();
    on_up_ = [&] { follower.signal(signal); };
    const auto outcome = launch(*peer, "loop", 1);
    EXPECT_EQ(outcome.exit, Exit::lost);
    EXPECT_NE(outcome.reason.find("rank 1 on far was lost: "), std::string::npos) << outcome.reason;
    if (signal == SIGSTOP) follower.signal(SIGKILL);
    EXPECT_TRUE(all_dead(pids_));
  }
}

TEST_F(Remote, EndsTheRankThereWhenThisSideDisappears) {
  TestProcess follower({"follow", port(), "loop", "1"});
  auto peer = accept();
  on_up_ = [&] { ::shutdown(peer->fd(), SHUT_RDWR); };
  EXPECT_EQ(launch(*peer, "loop", 1).exit, Exit::lost);
  peer.reset();
  EXPECT_EQ(follower.line(), fmt::format("2 5 near closed the control connection"));
  EXPECT_TRUE(all_dead(pids_));
}

TEST_F(Remote, CtrlCOnTheOtherHost) {
  {
    TestProcess follower({"follow", port(), "loop", "1"});
    const auto peer = accept();
    on_up_ = [&] { follower.signal(SIGINT); };
    const auto outcome = launch(*peer, "loop", 1);
    EXPECT_EQ(outcome.state, State::interrupted);
    EXPECT_EQ(outcome.reason, "stopped by Ctrl-C on far");
  }
  pids_.clear();
  TestProcess follower({"follow", port(), "hang", "1"});
  const auto peer = accept();
  on_up_ = [&] { follower.signal(SIGTERM); };
  const auto outcome = launch(*peer, "hang", 1);
  EXPECT_EQ(outcome.exit, Exit::interrupted);
  EXPECT_EQ(outcome.reason, "stopped by Ctrl-C on far");
  EXPECT_TRUE(all_dead(pids_));
}

}  // namespace
}  // namespace ucxbench
