// The processes of the launch tests:
//   rank ACTION WHO                a rank in which rank WHO does ACTION in the phase "work"
//   supervise SIZE WRAP ACTION WHO a supervisor of such ranks; prints "pid N" for each rank, then
//                                  "STATE EXIT REASON"
//   follow PORT ACTION WHO         the connecting side; prints likewise
//   churn MICROSECONDS             makes and removes shared memory as UCX does, in a thread of its
//                                  own, and ends so late as a rank without a supervisor
// An ACTION "litter-…" makes shared memory first, and the rank never gets to remove it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/channel_rendezvous.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/follower.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/listener.hpp"
#include "harness/launch/supervisor.hpp"

// While set, all threads but the first wait for memory in vain. Inlined, the compiler would see new
// paired with free.
static std::atomic<bool> memory_withheld{false};

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  while (memory_withheld && ::gettid() != ::getpid()) ::usleep(1000);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace ucxbench;
using namespace std::chrono_literals;

const Identity identity{"0.1.0", "test", "far"};
constexpr const char* token = "a-token-for-the-tests";

int number(const std::string& text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

struct SharedMemory {
  std::string path;
  Fd file;
  int segment = -1;
};

SharedMemory make_shared_memory() {
  SharedMemory made;
  const char* folder = std::getenv("UCX_POSIX_DIR");
  if (folder == nullptr) ::_exit(4);
  made.path = fmt::format("{}/ucx_shm_posix_{}", folder, ::getpid());
  made.file = Fd(::open(made.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  made.segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (!made.file || made.segment < 0) ::_exit(4);
  return made;
}

/// What a peer uses; nobody hears of a failure after this is gone.
struct Held {
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { ::raise(SIGKILL); }
};

[[noreturn]] void churn(int microseconds) {
  const std::time_t since = std::time(nullptr);
  std::thread([] {
    for (;;) {
      const auto made = make_shared_memory();
      ::usleep(20);
      ::unlink(made.path.c_str());
      ::shmctl(made.segment, IPC_RMID, nullptr);
    }
  }).detach();
  ::usleep(static_cast<useconds_t>(microseconds));
  stop_and_leave_nothing(since);
  ::_exit(0);
}

void act(ChannelRendezvous& meeting, const std::string& action) {
  if (action.starts_with("litter-")) {
    const auto made = make_shared_memory();
    act(meeting, action.substr(7));
    sleep_for(60s);
  }
  if (action == "kill") ::raise(SIGKILL);
  if (action == "kill_and_be_missed") {
    const auto pid = std::to_string(::getpid());
    meeting.put("dying", {pid.begin(), pid.end()}, nullptr);
    ::raise(SIGKILL);
  }
  if (action == "number" || action == "words") {  // what no rank of ours says
    const nlohmann::json frame =
        action == "number"
            ? nlohmann::json{{"type", 5}}
            : nlohmann::json{
                  {"type", "heartbeat"}, {"pid", "many"}, {"pid_namespace", own_namespace("pid")}};
    std::vector<std::uint8_t> bytes(4);
    nlohmann::json::to_cbor(frame, bytes);
    bytes[0] = static_cast<std::uint8_t>(bytes.size() - 4);
    const char* control_fd = std::getenv(control_fd_variable);
    if (control_fd == nullptr || ::write(number(control_fd), bytes.data(), bytes.size()) < 0) {
      ::_exit(4);
    }
    sleep_for(60s);
  }
  if (action == "torn") {  // dies in the middle of a message
    const char half[] = {127, 0, 0, 0, 1};
    const char* control_fd = std::getenv(control_fd_variable);
    if (control_fd == nullptr || ::write(number(control_fd), half, 5) != 5) ::_exit(4);
    ::raise(SIGKILL);
  }
  if (action == "stop") ::raise(SIGSTOP);
  if (action == "warn") {
    fmt::print("[1668000000.123456] [host:{}:0]  ucp_context.c:1071 UCX  WARN  a\n", ::getpid());
    std::fflush(stdout);
    fmt::print(stderr, "[1668000000.123456] [host:1:0]  sock.c:323  UCX  ERROR b without an end");
  }
  memory_withheld = action == "withhold";
  if (action == "hang" || action == "withhold" || action == "unreported") sleep_for(60s);
  if (action == "exit") ::_exit(3);
  if (action == "leave") ::_exit(0);
  if (action == "abort") meeting.abort(Failure(Exit::lost, "no more"));
  if (action == "wrong") throw Failure(Exit::wrong_data, "byte 7 from rank 0 is wrong");
  if (action == "hold") {
    const Held held;
    throw Failure(Exit::wrong_data, "byte 7 from rank 0 is wrong");
  }
  if (action == "throw_in_thread") {
    std::thread([] { throw std::runtime_error("no more in this thread"); }).join();
  }
  if (action == "hold_up") {
    constexpr std::string_view text = "hold up";
    meeting.put("report/hold-up", {text.begin(), text.end()}, nullptr);
  }
  if (action == "wait") meeting.get("never put", nullptr);
  if (action == "busy") {  // no message for a long time, but work
    for (int i = 0; i < 80; ++i, sleep_for(50ms)) activity().bump();
  }
}

using Reports = std::vector<std::pair<std::string, Rendezvous::Bytes>>;

void work(ChannelRendezvous& meeting, const std::string& action, int who) {
  const auto progress = [] {};
  const int rank = meeting.rank();
  const std::string pid = std::to_string(::getpid());
  meeting.phase("meeting");
  meeting.put("address/" + std::to_string(rank), {static_cast<std::uint8_t>(rank)}, progress);
  for (int member = 0; member < meeting.size(); ++member) {
    const auto address = meeting.get("address/" + std::to_string(member), nullptr);
    if (address != Rendezvous::Bytes{static_cast<std::uint8_t>(member)})
      meeting.abort(Failure(Exit::lost, "mixed up"));
  }
  if (action == "unreported") {
    meeting.at_stop([] { return Reports{{"report/finished", {'7'}}}; });
  }
  meeting.put("report/pid", {pid.begin(), pid.end()}, progress);
  meeting.barrier(nullptr);
  meeting.phase("work");
  meeting.barrier(progress);
  if (rank == who || who < 0) act(meeting, action);
  if (action == "kill_and_be_missed") {
    const auto dying = meeting.get("dying", nullptr);
    while (::kill(number({dying.begin(), dying.end()}), 0) == 0) sleep_for(1ms);
    throw Failure(Exit::lost, "missed it");
  }
  const int rounds = action == "loop" ? 1000 : 3;
  for (int round = 0; round < rounds; ++round) {
    meeting.barrier(nullptr);
    sleep_for(20ms);
  }
  meeting.finish();
  if (action == "end_badly" && rank == who) ::_exit(3);
}

int run_rank(const std::string& action, int who) {
  const auto meeting = ChannelRendezvous::from_environment();
  if (!meeting) return static_cast<int>(Exit::lost);
  work(*meeting, action, who);
  return 0;
}

RankCommand command(const std::string& action, const std::string& who, const std::string& wrap) {
  return {{"/proc/self/exe", "rank", action, who},
          rank_environment(current_environment(), {}, {}).entries,
          {},
          wrap};
}

void print(const LaunchOutcome& outcome) {
  fmt::print("{} {} {}\n", static_cast<int>(outcome.state), static_cast<int>(outcome.exit),
             outcome.reason);
}

void supervise(int size, const std::string& wrap, const std::string& action,
               const std::string& who) {
  Launch wanted;
  auto rank = command(action, who, wrap);
  rank.argv[0] = "/proc/" + std::to_string(::getpid()) + "/exe";  // self may be a wrapper
  wanted.ranks.assign(static_cast<std::size_t>(size), rank);
  wanted.on_report = [](int, const std::string&, const Hub::Bytes& pid) {
    fmt::print("pid {}\n", std::string(pid.begin(), pid.end()));
    std::fflush(stdout);
    if (pid.front() == 'h') sleep_for(60s);
  };
  Signals signals;
  print(run_launch(wanted, signals));
}

void follow(const std::string& port, const std::string& action, const std::string& who) {
  Signals signals;
  const auto peer = connect_to_listener({"127.0.0.1", port}, identity, token, 5s);
  print(follow_launches(
      *peer,
      [&](const auto&, int ranks) {
        return std::vector(static_cast<std::size_t>(ranks), command(action, who, ""));
      },
      [](const auto& question) { return question; }, signals));
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(120);  // whatever is wrong with it, it does not outlive the tests by much
  std::vector<std::string> words(argv + 1, argv + argc);
  words.resize(5);
  if (words[0] == "rank") return run_rank(words[1], number(words[2]));
  try {
    if (words[0] == "supervise") supervise(number(words[1]), words[2], words[3], words[4]);
    if (words[0] == "follow") follow(words[1], words[2], words[3]);
    if (words[0] == "churn") churn(number(words[1]));
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
  return 0;
}
