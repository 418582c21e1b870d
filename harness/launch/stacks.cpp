#include "harness/launch/stacks.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/core/files.hpp"
#include "harness/core/library.hpp"
#include "harness/launch/processes.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int deepest = 64;                // what is deeper is left out
constexpr std::size_t longest_name = 160;  // templates have names of any length
constexpr std::chrono::milliseconds seize_pause{1};
// For a running thread to be stopped: one that is not then is stuck in the kernel.
constexpr std::chrono::milliseconds seize_limit{100};

// The part of libdw's interface that is used here, as elfutils/libdwfl.h has it: so it needs no
// header to be built, and the library only where stacks are looked at. libunwind would not do: it
// takes each mapping of a file for a segment, and UCX's hooks into libc's functions split that of
// its code.
using Address = std::uint64_t;
using OfModule = int (*)(void*, void**, const char*, Address, char**, void**);

struct Callbacks {
  OfModule find_file;
  int (*find_debug_file)(void*, void**, const char*, Address, const char*, const char*,
                         std::uint32_t, char**);
  int (*section_address)();
  char** debug_path;
};

struct Symbol {
  std::array<std::uint64_t, 3> opaque;  // Elf64_Sym
};

struct Libdw {
  void* (*begin)(const Callbacks*);
  void (*end)(void*);
  int (*report)(void*, pid_t);
  int (*report_end)(void*, void*, void*);
  int (*attach)(void*, pid_t, bool);
  int (*frames)(void*, pid_t, int (*)(void*, void*), void*);
  bool (*address)(void*, Address*, bool*);
  void* (*module)(void*, Address);
  const char* (*function)(void*, Address, Address*, Symbol*, std::uint32_t*, void**, Address*);
  const char* (*file)(void*, void***, Address*, Address*, Address*, Address*, const char**,
                      const char**);
  OfModule find_file;
};

/// Nothing where it is not installed.
std::optional<Libdw> load_libdw() {
  void* const handle = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  Libdw library{};
  bool complete = true;
  const auto find = [&](auto*& function, const char* name) {
    complete = find_function(handle, name, function) && complete;
  };
  find(library.begin, "dwfl_begin");
  find(library.end, "dwfl_end");
  find(library.report, "dwfl_linux_proc_report");
  find(library.report_end, "dwfl_report_end");
  find(library.attach, "dwfl_linux_proc_attach");
  find(library.frames, "dwfl_getthread_frames");
  find(library.address, "dwfl_frame_pc");
  find(library.module, "dwfl_addrmodule");
  find(library.function, "dwfl_module_addrinfo");
  find(library.file, "dwfl_module_info");
  find(library.find_file, "dwfl_linux_proc_find_elf");
  if (complete) return library;
  return std::nullopt;
}

// Those of the distribution may be a network away; the names of functions are in the files
// themselves.
int no_debug_file(void* /*module*/, void** /*data*/, const char* /*name*/, Address /*base*/,
                  const char* /*file*/, const char* /*link*/, std::uint32_t /*checksum*/,
                  char** /*found*/) {
  return -1;
}

std::string readable(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  std::string found = status == 0 ? text.get() : name;
  if (found.size() > longest_name) found = found.substr(0, longest_name) + "…";
  return found;
}

/// Functions of the stopped threads of one process.
class Unwinder {
 public:
  Unwinder(const Libdw& library, pid_t process)
      : library_(library),
        callbacks_{library.find_file, &no_debug_file, nullptr, nullptr},
        of_process_(library.begin(&callbacks_)) {
    library_.report(of_process_, process);
    library_.report_end(of_process_, nullptr, nullptr);
    attached_ = library_.attach(of_process_, process, true) == 0;
  }
  ~Unwinder() { library_.end(of_process_); }
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  std::string frames(pid_t thread, Clock::time_point deadline) {
    text_.clear();
    depth_ = 0;
    deadline_ = deadline;
    if (attached_) library_.frames(of_process_, thread, &Unwinder::on_frame, this);
    return text_;
  }

 private:
  static int on_frame(void* frame, void* self) {
    constexpr int go_on = 0;
    constexpr int enough = 1;
    auto& unwinder = *static_cast<Unwinder*>(self);
    unwinder.add(frame);
    return ++unwinder.depth_ < deepest && Clock::now() < unwinder.deadline_ ? go_on : enough;
  }

  void add(void* frame) {
    Address address = 0;
    bool innermost = false;
    if (!library_.address(frame, &address, &innermost)) return;
    // A call that is the last of its function returns to the next one.
    if (!innermost) --address;
    void* const module = library_.module(of_process_, address);
    Address offset = 0;
    Symbol symbol{};
    const char* const function =
        module == nullptr
            ? nullptr
            : library_.function(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    const std::string file = module == nullptr ? ""
                                               : library_.file(module, nullptr, nullptr, nullptr,
                                                               nullptr, nullptr, nullptr, nullptr);
    text_ += function == nullptr ? fmt::format("    {:#x}", address)
                                 : fmt::format("    {} + {:#x}", readable(function), offset);
    text_ += fmt::format("  ({})\n", file.substr(file.rfind('/') + 1));
  }

  const Libdw& library_;
  Callbacks callbacks_;
  void* of_process_;
  bool attached_ = false;
  std::string text_;
  int depth_ = 0;
  Clock::time_point deadline_;
};

/// Attached to this thread until it ends.
bool seize(pid_t thread, Clock::time_point deadline) {
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return false;
  if (::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) return false;
  for (;;) {
    siginfo_t info{};
    // Not its death, which is its parent's to know.
    const int found =
        ::waitid(P_PID, static_cast<id_t>(thread), &info, WSTOPPED | WNOHANG | __WALL);
    if (found == 0 && info.si_pid == thread) return true;
    if (found != 0 || Clock::now() >= deadline) {
      errno = ETIMEDOUT;
      return false;
    }
    std::this_thread::sleep_for(seize_pause);
  }
}

std::string state_in_words(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "waiting";
    case 'D':
      return "stuck in the kernel";
    case 'T':
      return "stopped";
    case 't':
      return "traced";
    default:
      return fmt::format("in state {}", state);
  }
}

// Where in the kernel, as far as this user may know: "0" says nowhere, or nothing.
std::string in_kernel(const std::string& task) {
  const auto channel = first_line(task + "/wchan");
  std::string text = channel.empty() || channel == "0" ? "" : fmt::format(" in {}", channel);
  const auto call = first_line(task + "/syscall");
  const auto number = call.substr(0, call.find(' '));
  if (!number.empty() && number != "running" && number != "-1") {
    text += fmt::format(", system call {}", number);
  }
  return text;
}

std::string stacks_of_process(pid_t process, const std::optional<Libdw>& library,
                              Clock::time_point deadline) {
  const auto name = first_line(fmt::format("/proc/{}/comm", process));
  std::optional<Unwinder> unwinder;
  if (library) unwinder.emplace(*library, process);
  std::string text;
  for (const auto& thread : threads_of(process)) {
    const auto task = fmt::format("/proc/{}/task/{}", process, thread.id);
    text += fmt::format("  process {} ({}), thread {} ({}), {}{}\n", process, name, thread.id,
                        first_line(task + "/comm"), state_in_words(thread.state), in_kernel(task));
    const auto begin = Clock::now();
    if (begin >= deadline) {
      text += "    (no time was left to look at it)\n";
    } else if (!unwinder) {
      continue;
    } else if (seize(thread.id, std::min(deadline, begin + seize_limit))) {
      text += unwinder->frames(thread.id, deadline);
    } else {
      text += fmt::format("    (its functions cannot be looked at: {})\n", std::strerror(errno));
      std::istringstream lines(text_of(task + "/stack"));
      for (std::string line; std::getline(lines, line);) text += fmt::format("    {}\n", line);
    }
  }
  return text;
}

std::string stacks_by_this_thread(pid_t group, Clock::time_point deadline) {
  const auto library = load_libdw();
  std::string text;
  for (const auto& process : all_processes()) {
    if (process.group != group || process.state == 'Z') continue;
    text += stacks_of_process(process.id, library, deadline);
  }
  if (!text.empty() && !library) {
    text += "  (no functions: libdw.so.1 is not here; Debian has it in libdw1)\n";
  }
  return text;
}

}  // namespace

std::string stacks_of_group(pid_t group, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  // With the end of a thread the kernel lets go all that it traces.
  std::thread([&] { text = stacks_by_this_thread(group, deadline); }).join();
  return text;
}

}  // namespace ucxbench
