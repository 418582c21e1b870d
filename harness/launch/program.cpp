#include "harness/launch/program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/core/helper_program.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

using ProgramClock = std::chrono::steady_clock;

// Its end wakes us; this is for limits only.
constexpr std::chrono::milliseconds look_again{250};
// For a program to end after Ctrl-C, then after SIGTERM, all within a second: one of this version
// needs less.
constexpr std::chrono::milliseconds grace{700};
constexpr std::chrono::milliseconds last_grace{300};
// After the user's second Ctrl-C.
constexpr std::chrono::seconds abort_grace{1};

// In memory, so that nobody has to read while it writes.
Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no memory for what a program says: {}", std::strerror(errno)));
  }
  return file;
}

std::string all_of(const Fd& file, std::size_t from = 0) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::pread(file.get(), part.data(), part.size(),
                                           static_cast<off_t>(from + text.size()))) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

/// A program that has begun, and what it says.
class Running {
 public:
  explicit Running(const Program& program)
      : out_(memory_file("stdout")), err_(memory_file("stderr")), is_heard_(program.is_heard) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : program.environment) entries.push_back(name + "=" + value);
    try {
      program_.emplace(program.argv, HelperProgram::Setup{.output = out_.get(),
                                                          .errors = err_.get(),
                                                          .environment = std::move(entries),
                                                          .at_our_end = SIGTERM});
    } catch (const std::system_error& error) {
      throw Failure(Exit::usage, fmt::format("cannot run '{}': {}; give a program that can be run",
                                             program.argv[0], error.code().message()));
    }
    if (program.limit) deadline_ = ProgramClock::now() + *program.limit;
  }

  std::optional<ProgramEnd> look(const Signals& signals) {
    const auto status = program_->status();
    if (status) {
      return ProgramEnd{.status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 0,
                        .signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0,
                        .out = all_of(out_),
                        .said = all_of(err_)};
    }
    if (is_heard_) pass_on_words();
    pass_on(signals);
    if (ProgramClock::now() > deadline_) end_it(last_grace);
    return std::nullopt;
  }

 private:
  void pass_on_words() {
    const auto more = all_of(err_, heard_);
    heard_ += more.size();
    print_to(stderr, "{}", more);
  }
  // Signals of one kind that are pending at once are one: a second Ctrl-C goes on as SIGTERM.
  void pass_on(const Signals& signals) {
    if (signals.stop() && !std::exchange(stopped_, true)) {
      ::kill(program_->pid(), SIGINT);
      deadline_ = ProgramClock::now() + grace;
    }
    if (signals.abort() && !aborted_) end_it(abort_grace);
  }
  void end_it(std::chrono::milliseconds limit) {
    const bool again = std::exchange(aborted_, true);
    if (again || !stopped_) {
      program_->kill();
    } else {
      ::kill(program_->pid(), SIGTERM);
    }
    deadline_ = ProgramClock::now() + limit;
  }

  Fd out_, err_;
  std::optional<HelperProgram> program_;
  bool is_heard_;
  std::size_t heard_ = 0;  ///< bytes
  bool stopped_ = false;
  bool aborted_ = false;
  ProgramClock::time_point deadline_ = ProgramClock::time_point::max();
};

}  // namespace

std::vector<ProgramEnd> run_programs(const std::vector<Program>& programs, Signals& signals,
                                     const std::function<void(std::size_t)>& ended) {
  std::vector<std::unique_ptr<Running>> running;
  for (const auto& program : programs) running.push_back(std::make_unique<Running>(program));
  const Signals::Waiting waiting(signals);
  std::vector<ProgramEnd> ends(programs.size());
  for (std::size_t left = programs.size();;) {
    signals.collect();
    for (std::size_t at = 0; at < running.size(); ++at) {
      if (running[at] == nullptr) continue;
      auto end = running[at]->look(signals);
      if (!end) continue;
      ends[at] = std::move(*end);
      running[at].reset();
      --left;
      if (ended) ended(at);
    }
    if (left == 0) return ends;
    pollfd ready{signals.fd(), POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(look_again.count()));
  }
}

std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const auto path = environment_variable("PATH");  // split_text gives views into it
  for (const auto folder : split_text(path, ':')) {
    auto file = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

ProgramEnd run_program(const Program& program, Signals& signals) {
  return run_programs({program}, signals).front();
}

}  // namespace ucxbench
