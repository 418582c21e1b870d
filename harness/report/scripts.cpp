#include "harness/report/scripts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/helper_program.hpp"
#include "harness/core/print.hpp"

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

/// What the processors have given to a child that is not yet reaped.
std::chrono::nanoseconds processor_time(pid_t child) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

fs::path source_script(const std::string& name) {
  std::error_code ignored;
  auto file = fs::path(UCXBENCH_SCRIPTS_SOURCE) / name;
  if (fs::exists(file, ignored)) return file;
  throw Failure(Exit::cannot_run, fmt::format("'{}' is not here: it is in the source tree of "
                                              "ucx-bench only",
                                              file.string()));
}

int run_script(const std::string& script, const std::vector<std::string>& args,
               std::chrono::milliseconds idle_limit) {
  const auto python = find_python();
  std::vector<std::string> arguments = {python, find_script(script).string()};
  arguments.insert(arguments.end(), args.begin(), args.end());
  std::optional<HelperProgram> program;
  try {
    program.emplace(arguments);
  } catch (const std::system_error& error) {
    cannot_run(script, fmt::format("it needs Python 3 with matplotlib, but '{}': {}", python,
                                   error.code().message()));
  }
  auto tell_at = ScriptClock::now() + patience;
  auto worked_at = ScriptClock::now();
  auto worked = processor_time(program->pid());
  bool idle = false;
  std::optional<int> ended;
  while (!(ended = program->status())) {
    const auto now = ScriptClock::now();
    if (const auto time = processor_time(program->pid()); std::exchange(worked, time) != time) {
      worked_at = now;
    }
    idle = idle || now - worked_at > idle_limit;
    if (idle) program->kill();
    if (now > tell_at) {
      print_to(stderr, "ucx-bench: {} is still at work; Ctrl-C ends it\n", script);
      tell_at = ScriptClock::time_point::max();
    }
    std::this_thread::sleep_for(look_every);
  }
  const int status = *ended;
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
