#include "harness/launch/test_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "harness/launch/channel.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {

using namespace std::chrono_literals;

pid_t pid_of(const std::string& text) {
  pid_t pid = -1;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return pid;
}

RankCommand test_rank(const std::string& action, int who, const std::string& wrap) {
  return {{UCXBENCH_TEST_PROGRAM, "rank", action, std::to_string(who)},
          rank_environment(current_environment(), {}, {}).entries,
          {},
          wrap};
}

namespace {

// For its process, or for its first thread.
bool is_pending(pid_t pid, int signal) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    const auto mask = std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
    if ((mask >> static_cast<unsigned>(signal - 1) & 1U) != 0) return true;
  }
  return false;
}

}  // namespace

bool children_end() {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  for (;;) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended == -1) return errno == ECHILD;
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TestProcess::TestProcess(const std::vector<std::string>& arguments) : pid_(-1) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  output_ = Fd(ends[0]);
  const Fd writer(ends[1]);
  std::vector<std::string> words{UCXBENCH_TEST_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("no test program");
}

TestProcess::~TestProcess() {
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void TestProcess::signal(int signal) const { ::kill(pid_, signal); }

bool TestProcess::took(int signal) const {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (is_pending(pid_, signal)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::string TestProcess::line() {
  std::string text;
  char c = 0;
  while (wait_for(output_.get(), POLLIN, 20s) && ::read(output_.get(), &c, 1) == 1 && c != '\n') {
    text += c;
  }
  return text;
}

SharedMemoryFolder::SharedMemoryFolder() : path_("/dev/shm/ucx-bench-test-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder");
  ::setenv("UCX_POSIX_DIR", path_.c_str(), 1);
}

SharedMemoryFolder::~SharedMemoryFolder() {
  ::unsetenv("UCX_POSIX_DIR");
  std::filesystem::remove_all(path_);
}

std::vector<std::string> SharedMemoryFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

std::vector<int> segments_of(const std::vector<pid_t>& creators) {
  std::vector<int> found;
  std::ifstream table("/proc/sysvipc/shm");
  std::string heading;
  std::getline(table, heading);
  long key = 0;
  int id = 0;
  unsigned mode = 0;
  std::size_t bytes = 0;
  pid_t creator = 0;
  for (std::string rest; table >> key >> id >> mode >> bytes >> creator;
       std::getline(table, rest)) {
    if (std::ranges::find(creators, creator) != creators.end()) found.push_back(id);
  }
  return found;
}

std::size_t remove_segments_of(const std::vector<pid_t>& creators) {
  const auto found = segments_of(creators);
  for (const int id : found) ::shmctl(id, IPC_RMID, nullptr);
  return found.size();
}

namespace {

/// Its letter in /proc; X where there is none.
char state_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("State:")) return line[line.find_first_not_of(" \t", 6)];
  }
  return 'X';
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", parent));
  std::vector<pid_t> all;
  for (pid_t child = 0; file >> child;) all.push_back(child);
  return all;
}

bool is_dead(pid_t pid) {
  const char state = state_of(pid);
  return state == 'Z' || state == 'X';
}

bool names_function(const std::string& stacks, const std::string& function) {
  return stacks.find(" " + function + " - ") != std::string::npos ||
         stacks.find("eu-stack is not here") != std::string::npos;
}

bool is_stopped(pid_t pid) { return state_of(pid) == 'T'; }

bool all_dead(const std::vector<pid_t>& pids) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!std::ranges::all_of(pids, is_dead)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace ucxbench
