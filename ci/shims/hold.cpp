// Preloaded by the tests: a program stays at a chosen call, so that it can be looked at, or ended,
// in a phase of which nobody outside sees the begin.
//   HOLD_COMMAND  the program that does: one of the words of its command line, or "rank": each of
//                 the ranks, which have no words
//   HOLD_CALL     the function: one of those at the end of this file
//   HOLD_SAYS     "FILE TEXT": only once that file in the working directory has this text
//   HOLD_SEGMENT  if set, it has a System V segment of its own there
//   HOLD_BUSY     if set, it works there instead of sleeping
//   HOLD_FOLDER   where the file "held" then gets the process's number; it goes on once "go-on" is
//                 there, too

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "shim.hpp"

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_it() {
  if (variable("HOLD_COMMAND") == "rank") return std::getenv("UCXBENCH_INTERNAL_RANK") != nullptr;
  const auto words = text_of("/proc/self/cmdline");
  return words.find('\0' + variable("HOLD_COMMAND") + '\0') != std::string::npos;
}

bool so_far() {
  const auto says = variable("HOLD_SAYS");
  const auto blank = says.find(' ');
  return says.empty() ||
         text_of(says.substr(0, blank)).find(says.substr(blank + 1)) != std::string::npos;
}

void reached(std::string_view call) {
  static const bool here = is_it();
  static const auto wanted = variable("HOLD_CALL");
  if (!here || call != wanted || !so_far()) return;
  static const auto folder = variable("HOLD_FOLDER");
  static bool held = false;
  if (std::exchange(held, true)) return;
  if (std::getenv("HOLD_SEGMENT") != nullptr)
    next<int(key_t, size_t, int)>("shmget")(IPC_PRIVATE, 1, 0600);
  std::ofstream(folder + "/held") << getpid() << std::endl;
  const bool busy = std::getenv("HOLD_BUSY") != nullptr;
  while (access((folder + "/go-on").c_str(), F_OK) != 0) {
    if (!busy) usleep(10'000);
  }
}

}  // namespace

extern "C" {

int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  reached("getaddrinfo");
  return next<decltype(getaddrinfo)>("getaddrinfo")(node, service, hints, found);
}

int hwloc_topology_load(void* topology) {
  reached("hwloc_topology_load");
  return next<int(void*)>("hwloc_topology_load")(topology);
}

int remove(const char* path) noexcept {
  reached("remove");
  return next<int(const char*)>("remove")(path);
}

int rename(const char* from, const char* to) noexcept {
  reached("rename");
  return next<int(const char*, const char*)>("rename")(from, to);
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* cpus) noexcept {
  reached("sched_setaffinity");
  return next<int(pid_t, size_t, const cpu_set_t*)>("sched_setaffinity")(pid, size, cpus);
}

int shmget(key_t key, size_t size, int flags) noexcept {
  const int made = next<int(key_t, size_t, int)>("shmget")(key, size, flags);
  reached("shmget");
  return made;
}

int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  reached("socketpair");
  return next<int(int, int, int, int*)>("socketpair")(domain, type, protocol, ends);
}

int uct_component_query(void* component, void* about) {
  reached("uct_component_query");
  return next<int(void*, void*)>("uct_component_query")(component, about);
}

}  // extern "C"
