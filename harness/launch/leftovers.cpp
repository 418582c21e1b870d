#include "harness/launch/leftovers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/core/fd.hpp"
#include "harness/launch/processes.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view file_prefix = "ucx_shm_posix_";
constexpr std::string_view folder_variable = "UCX_POSIX_DIR=";
constexpr milliseconds removal_limit{500};
// On a busy machine the kernel takes its time to take a process apart that was killed.
constexpr milliseconds dying_limit{3000};
constexpr milliseconds removal_pause{10};
constexpr int freeze_limit_ms = 200;

bool is_ucx_file(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with(file_prefix);
}

/// Calls `visit` with each segment that the kernel lists, and its id.
template <typename Visit>
void for_each_segment(const Visit& visit) {
  shm_info info{};
  const int last = ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info));
  for (int index = 0; index <= last; ++index) {
    shmid_ds segment{};
    const int id = ::shmctl(index, SHM_STAT, &segment);
    if (id >= 0) visit(id, segment);
  }
}

/// Whether one was left alone because somebody has it attached.
bool remove_segments(const Traces& of) {
  bool busy = false;
  for_each_segment([&](int id, const shmid_ds& segment) {
    if (segment.shm_perm.uid != ::geteuid() || segment.shm_ctime < of.since) return;
    if ((segment.shm_perm.mode & SHM_DEST) != 0) return;  // goes with who has it attached
    if (std::ranges::find(of.creators, segment.shm_cpid) == of.creators.end()) return;
    if (segment.shm_nattch != 0) {
      busy = true;
    } else {
      ::shmctl(id, IPC_RMID, nullptr);
    }
  });
  return busy;
}

/// False when it was left alone because somebody uses it.
bool remove_if_unused(const std::filesystem::path& path, std::time_t since) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno != EWOULDBLOCK;  // another supervisor is just about to remove it
  struct stat about{};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid() ||
      about.st_ctim.tv_sec < since) {
    return true;
  }
  struct statfs place{};
  if (::fstatfs(file.get(), &place) != 0 || place.f_type == OVERLAYFS_SUPER_MAGIC) {
    return true;  // an overlay would not know of mappings
  }
  // The kernel grants this lease only where no other descriptor and no mapping of the file exists.
  // Who opens it meanwhile would have us told by a signal: let it be one that does nothing.
  ::fcntl(file.get(), F_SETSIG, SIGURG);
  if (::fcntl(file.get(), F_SETLEASE, F_WRLCK) != 0) return errno != EAGAIN;
  ::unlink(path.c_str());
  return true;
}

/// Whether one was left alone because somebody uses it.
bool remove_files(const Traces& of) {
  bool busy = false;
  for (const auto& folder : of.folders) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!is_ucx_file(entry->path().native())) continue;
      busy = !remove_if_unused(entry->path(), of.since) || busy;
    }
  }
  return busy;
}

/// Calls `visit` with the folder's descriptor and the name of each entry.
template <typename Visit>
void for_each_entry(const char* folder, const Visit& visit) {
  const Fd open(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open) return;
  alignas(dirent64) std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t bytes = ::getdents64(open.get(), buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      visit(open.get(), entry->d_name);
    }
  }
}

// A file that has lost its name carries " (deleted)" here, so that nothing is found under it.
void remove_open_files() {
  for_each_entry("/proc/self/fd", [](int folder, const char* name) {
    std::array<char, PATH_MAX> path;
    const ssize_t length = ::readlinkat(folder, name, path.data(), path.size() - 1);
    if (length <= 0) return;
    path[static_cast<std::size_t>(length)] = '\0';
    if (is_ucx_file(path.data())) ::unlink(path.data());
  });
}

// "ADDRESSES MODE OFFSET DEVICE INODE   PATH"
void remove_mapped_file(const char* line) {
  const char* path = std::strchr(line, '/');
  if (path != nullptr && is_ucx_file(path)) ::unlink(path);
}

void remove_mapped_files() {
  const Fd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps) return;
  std::array<char, std::size_t{2} * PATH_MAX> buffer;
  std::size_t filled = 0;
  for (;;) {
    const ssize_t bytes = ::read(maps.get(), buffer.data() + filled, buffer.size() - filled);
    if (bytes <= 0) return;
    filled += static_cast<std::size_t>(bytes);
    char* line = buffer.data();
    char* const end = buffer.data() + filled;
    for (char* stop; (stop = std::find(line, end, '\n')) != end; line = stop + 1) {
      *stop = '\0';
      remove_mapped_file(line);
    }
    filled = static_cast<std::size_t>(end - line);
    std::memmove(buffer.data(), line, filled);
    if (filled == buffer.size()) filled = 0;  // no line of ours is that long
  }
}

/// Above the number of every open descriptor. Not by /proc/self/fd: the kernel would keep an entry
/// of each, and whoever reaps this process had to wait until they are gone.
int descriptor_end() {
  const Fd status(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  if (!status || ::read(status.get(), text.data(), text.size() - 1) <= 0) return 0;
  constexpr std::string_view label = "FDSize:\t";
  const char* found = std::strstr(text.data(), label.data());
  int end = 0;
  if (found != nullptr) std::from_chars(found + label.size(), text.data() + text.size(), end);
  return end;
}

std::atomic<int> frozen{0};
static_assert(std::atomic<int>::is_always_lock_free);

void freeze(int) {
  frozen.fetch_add(1);
  for (;;) ::pause();
}

/// Whoever is inside a system call ends it first: what it makes there will be seen.
void freeze_other_threads() {
  struct sigaction action{};
  action.sa_handler = freeze;
  ::sigaction(SIGRTMAX, &action, nullptr);
  int asked = 0;
  for_each_entry("/proc/self/task", [&](int, const char* name) {
    pid_t thread = 0;
    std::from_chars(name, name + std::strlen(name), thread);  // "." and ".." give 0
    if (thread <= 0 || thread == ::gettid()) return;
    if (::tgkill(::getpid(), thread, SIGRTMAX) == 0) ++asked;
  });
  // A library's own thread may have blocked the signal; it is not one that makes shared memory.
  for (int i = 0; frozen.load() < asked && i < freeze_limit_ms; ++i) ::usleep(1000);
}

}  // namespace

void Traces::add(const Traces& other) {
  since = creators.empty() ? other.since : std::min(since, other.since);
  creators.insert(creators.end(), other.creators.begin(), other.creators.end());
  for (const auto& folder : other.folders) {
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  }
}

std::string shared_memory_folder(const std::vector<std::string>& environment) {
  for (const auto& entry : environment) {
    if (entry.starts_with(folder_variable)) return entry.substr(folder_variable.size());
  }
  return "/dev/shm";
}

void remove_leftovers(const Traces& of) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const bool dying = !std::ranges::all_of(of.creators, is_over);
    const bool segments_busy = remove_segments(of);
    const bool files_busy = remove_files(of);
    if (!segments_busy && !files_busy) return;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > (dying ? dying_limit : removal_limit)) return;
    std::this_thread::sleep_for(removal_pause);
  }
}

void stop_and_leave_nothing(std::time_t since) noexcept {
  freeze_other_threads();
  remove_own_leftovers(since);
}

void remove_own_leftovers(std::time_t since) noexcept {
  const pid_t self = ::getpid();
  for_each_segment([&](int id, const shmid_ds& segment) {
    // An older one is of another process that had this number.
    if (segment.shm_cpid == self && segment.shm_ctime >= since) ::shmctl(id, IPC_RMID, nullptr);
  });
  remove_open_files();
  remove_mapped_files();
}

void reset_connections() noexcept {
  constexpr linger at_once{.l_onoff = 1, .l_linger = 0};
  const int end = descriptor_end();
  for (int fd = 0; fd < end; ++fd) {
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);  // of others it is refused
  }
}

void block_signals_but_stop() noexcept {
  sigset_t blocked;
  ::sigfillset(&blocked);
  ::sigdelset(&blocked, SIGRTMAX);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace ucxbench
