// control_plane HOSTS RANKS_PER_HOST ADDRESS_BYTES REPORT_BYTES BARRIERS: what a launch costs on
// the control connections. The first host is the real one; the others, and all ranks, are played by
// one process that does nothing but answer: no rank process is started. One line of JSON.

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/clock.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/hub.hpp"
#include "harness/launch/listener.hpp"
#include "harness/launch/open_files.hpp"
#include "harness/launch/remote.hpp"
#include "harness/launch/signals.hpp"
#include "harness/launch/supervisor.hpp"

namespace {

using namespace ucxbench;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Size {
  int hosts;  ///< beside the first one, which has no ranks here
  int ranks_per_host;
  std::size_t address_bytes, report_bytes;
  int barriers;
};

const Identity self{"1", "simulation", "host"};
constexpr const char* token = "of-no-use-to-anybody";

/// One of the other hosts, with its ranks: each says its next sentence when the last one is
/// answered.
class Played {
 public:
  Played(const HostPort& at, const Size& size)
      : size_(size),
        connection_(connect_to_listener(at, self, token, std::chrono::seconds(60),
                                        {{"boot_id", "b"}, {"cpus", json::array()}})) {}

  int fd() const { return connection_->fd(); }
  bool over() const { return over_; }

  void take() {
    connection_->receive(Clock::now(), [&](const Channel::Frame& frame) {
      const auto type = frame.value("type", "");
      if (type == "launch") {
        for (const auto& rank : frame.at("ranks")) ranks_.push_back({rank.get<int>()});
        for (auto& rank : ranks_) begin(rank);
      } else if (type == "rank") {
        const auto to = frame.at("rank").get<int>();
        for (auto& rank : ranks_) {
          if (to == Hub::all_ranks || to == rank.number) answered(rank);
        }
      } else if (type == "clock") {
        connection_->send(
            {{"type", "answer"}, {"number", frame.at("number")}, {"ns", monotonic_ns()}});
      } else if (type == "end") {
        connection_->send({{"type", "ended"}});
      } else if (type == "goodbye") {
        over_ = true;
      }
    });
    over_ |= connection_->ended();
  }

 private:
  struct Rank {
    int number;
    int answers = 0;
  };

  void say(const Rank& rank, const json& what) {
    connection_->send({{"type", "rank"}, {"rank", rank.number}, {"frame", what}});
  }
  static json value(std::size_t bytes) { return json::binary(std::vector<std::uint8_t>(bytes, 7)); }

  void begin(Rank& rank) {
    say(rank, {{"type", "heartbeat"}, {"activity", 0}, {"pid", 1}, {"pid_namespace", ""}});
    say(rank, {{"type", "phase"}, {"what", "connecting"}});
    say(rank, {{"type", "gather"}, {"key", "worker"}, {"value", value(size_.address_bytes)}});
  }
  void answered(Rank& rank) {
    const auto at = rank.answers++;
    if (at < size_.barriers) {
      say(rank, {{"type", "barrier"}});
    } else if (at == size_.barriers) {
      say(rank, {{"type", "put"}, {"key", "report/rank"}, {"value", value(size_.report_bytes)}});
    } else {
      say(rank, {{"type", "finish"}});
      connection_->send({{"type", "gone"}, {"rank", rank.number}});
    }
  }

  Size size_;
  std::unique_ptr<RemoteSupervisor> connection_;
  std::vector<Rank> ranks_;
  bool over_ = false;
};

int play(const HostPort& at, const Size& size) {
  std::vector<std::unique_ptr<Played>> hosts;
  std::vector<pollfd> entries;
  for (int host = 0; host < size.hosts; ++host) {
    hosts.push_back(std::make_unique<Played>(at, size));
    entries.push_back({hosts.back()->fd(), POLLIN, 0});
  }
  for (std::size_t left = hosts.size(); left > 0;) {
    ::poll(entries.data(), entries.size(), 1000);
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (entries[host].revents == 0) continue;
      hosts[host]->take();
      if (!hosts[host]->over()) continue;
      entries[host].fd = -1;
      --left;
    }
  }
  return 0;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// What went over the connections, by what TCP has counted.
struct Crossed {
  std::uint64_t sent = 0, received = 0;
};
Crossed crossed(const RemoteSupervisors& others) {
  Crossed all;
  for (const auto& each : others) {
    tcp_info info{};
    socklen_t length = sizeof info;
    ::getsockopt(each->fd(), IPPROTO_TCP, TCP_INFO, &info, &length);
    all.sent += info.tcpi_bytes_acked;
    all.received += info.tcpi_bytes_received;
  }
  return all;
}

json measured(const Size& size, Listener& listener) {
  auto begin = Clock::now();
  const auto others =
      listener.gather(size.hosts, self, token, std::chrono::seconds(60), [](const auto&) {});
  const auto joined_s = seconds_since(begin);
  Launch launch;
  for (int rank = 0; rank < size.hosts * size.ranks_per_host; ++rank) {
    launch.hosts.push_back(1 + rank / size.ranks_per_host);
  }
  launch.told.assign(others.size(), json::object());
  Signals signals;
  begin = Clock::now();
  const auto before_s = processor_seconds();
  const auto crossed_before = crossed(others);
  const auto outcome = run_launch(launch, signals, others);
  const auto launch_s = seconds_since(begin);
  const auto launch_cpu_s = processor_seconds() - before_s;
  const auto crossed_after = crossed(others);
  for (const auto& each : others) each->say_goodbye(Exit::done, "");
  if (!outcome.reason.empty()) throw Failure(outcome.exit, outcome.reason);
  return {{"hosts", size.hosts},
          {"ranks", launch.hosts.size()},
          {"address_bytes", size.address_bytes},
          {"report_bytes", size.report_bytes},
          {"barriers", size.barriers},
          {"sent_bytes", crossed_after.sent - crossed_before.sent},
          {"received_bytes", crossed_after.received - crossed_before.received},
          {"joined_s", joined_s},
          {"launch_s", launch_s},
          {"launch_cpu_s", launch_cpu_s}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return static_cast<int>(Exit::usage);
  const auto number = [&](int at) { return static_cast<int>(std::strtol(argv[at], nullptr, 10)); };
  const Size size{number(1), number(2), static_cast<std::size_t>(number(3)),
                  static_cast<std::size_t>(number(4)), number(5)};
  try {
    allow_open_files(size.hosts, 0);
    Listener listener({"127.0.0.1", "0"});
    const HostPort at{"127.0.0.1", std::to_string(listener.port())};
    const auto others = ::fork();
    if (others == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(play(at, size));
    }
    const auto result = measured(size, listener);
    ::waitpid(others, nullptr, 0);
    fmt::print("{}\n", result.dump());
    return 0;
  } catch (const Failure& failure) {
    fmt::print(stderr, "control_plane: {}\n", failure.what());
    return static_cast<int>(failure.exit());
  }
}
