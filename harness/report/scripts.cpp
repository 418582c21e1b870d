#include "harness/report/scripts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

using ScriptClock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::minutes(1);
constexpr auto look_every = std::chrono::milliseconds(5);

[[noreturn]] void cannot_run(const std::string& script, const std::string& why) {
  throw Failure(Exit::cannot_run, fmt::format("{} cannot run here: {}; run ./scripts/setup/python "
                                              "in the source tree or set UCXBENCH_PYTHON",
                                              script, why));
}

fs::path find_script(const std::string& script) {
  std::error_code ignored;
  const auto installed =
      own_program().parent_path() / UCXBENCH_SCRIPTS_FROM_PROGRAM / (script + ".py");
  for (const auto& file : {installed, fs::path(UCXBENCH_SCRIPTS_SOURCE) / (script + ".py")}) {
    if (fs::exists(file, ignored)) return file.lexically_normal();
  }
  cannot_run(script, fmt::format("'{}' is not installed", installed.lexically_normal().string()));
}

std::string find_python() {
  if (const char* chosen = std::getenv("UCXBENCH_PYTHON"); chosen && *chosen) return chosen;
  return ::access(UCXBENCH_PYTHON, X_OK) == 0 ? UCXBENCH_PYTHON : "python3";
}

/// The script gets an empty signal mask: ours may block what should end it.
int spawn(const std::string& program, const std::vector<std::string>& arguments, pid_t& child) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      ::posix_spawnp(&child, program.c_str(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

/// What the processors have given to a child that is not yet reaped.
std::chrono::nanoseconds processor_time(pid_t child) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

int run_script(const std::string& script, const std::vector<std::string>& args,
               std::chrono::milliseconds idle_limit) {
  const auto python = find_python();
  std::vector<std::string> arguments = {python, find_script(script).string()};
  arguments.insert(arguments.end(), args.begin(), args.end());
  pid_t child = 0;
  if (const int error = spawn(python, arguments, child)) {
    cannot_run(script, fmt::format("it needs Python 3 with matplotlib, but '{}': {}", python,
                                   std::generic_category().message(error)));
  }
  auto tell_at = ScriptClock::now() + patience;
  auto worked_at = ScriptClock::now();
  auto worked = processor_time(child);
  bool idle = false;
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) {
      throw Failure(Exit::lost, script + ": lost: " + std::generic_category().message(errno));
    }
    if (ended == child) break;
    const auto now = ScriptClock::now();
    if (const auto time = processor_time(child); std::exchange(worked, time) != time) {
      worked_at = now;
    }
    idle = idle || now - worked_at > idle_limit;
    if (idle) ::kill(child, SIGKILL);
    if (now > tell_at) {
      fmt::print(stderr, "ucx-bench: {} is still at work; Ctrl-C ends it\n", script);
      tell_at = ScriptClock::time_point::max();
    }
    std::this_thread::sleep_for(look_every);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (idle) {
    throw Failure(Exit::lost, fmt::format("{} did nothing for {:g} s and was ended", script,
                                          std::chrono::duration<double>(idle_limit).count()));
  }
  throw Failure(Exit::lost, fmt::format("{} was ended by signal {} ({})", script, WTERMSIG(status),
                                        ::strsignal(WTERMSIG(status))));
}

int run_script_on(const std::string& text, const std::string& script,
                  const std::vector<std::string>& args) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      ::fdopen(::memfd_create(script.c_str(), 0), "wb"), &std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    throw Failure(Exit::cannot_run, fmt::format("no memory for what {} would read: {}", script,
                                                std::strerror(errno)));
  }
  std::vector<std::string> all = {fmt::format("/dev/fd/{}", ::fileno(file.get()))};
  all.insert(all.end(), args.begin(), args.end());
  return run_script(script, all);
}

}  // namespace ucxbench
