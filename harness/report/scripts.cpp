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
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

constexpr auto time_limit = std::chrono::minutes(5);
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
  cannot_run(script, "'" + installed.lexically_normal().string() + "' is not installed");
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

}  // namespace

int run_script(const std::string& script, const std::vector<std::string>& args) {
  const auto python = find_python();
  std::vector<std::string> arguments = {python, find_script(script).string()};
  arguments.insert(arguments.end(), args.begin(), args.end());
  pid_t child = 0;
  if (const int error = spawn(python, arguments, child)) {
    cannot_run(script, fmt::format("it needs Python 3 with matplotlib, but '{}': {}", python,
                                   std::generic_category().message(error)));
  }
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) {
      throw Failure(Exit::lost, script + ": lost: " + std::generic_category().message(errno));
    }
    if (ended == child) break;
    if (std::chrono::steady_clock::now() > deadline) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(look_every);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
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
