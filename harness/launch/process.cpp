#include "harness/launch/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

#include "harness/core/exec.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/channel.hpp"
#include "harness/launch/shell_words.hpp"

namespace ucxbench {
namespace {

// A network file system may take its time to deliver the program.
constexpr auto exec_limit = std::chrono::seconds(20);
constexpr auto exec_tick = std::chrono::milliseconds(100);
constexpr auto killed_limit = std::chrono::milliseconds(500);

enum class Step : int { bind, execute };

struct ChildError {
  Step step;
  int error;
};

/// All that the child needs, prepared before fork.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  cpu_set_t cpus;
  bool bind;
  int null_fd;
  int output_fd;
  int control_fd;
  int stop_fd;
  int error_fd;
  pid_t parent;
};

[[noreturn]] void give_up(const ChildPlan& plan, Step step) {
  const ChildError report{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(plan.error_fd, &report, sizeof report);
  ::_exit(127);
}

[[noreturn]] void become_rank(const ChildPlan& plan) {
  begin_child(plan.parent, SIGKILL);
  // Where Yama lets only its ancestors look at a process, eu-stack may, too (stacks.hpp).
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(plan.parent), 0, 0, 0);
  ::dup2(plan.null_fd, STDIN_FILENO);
  ::dup2(plan.output_fd, STDOUT_FILENO);
  ::dup2(plan.output_fd, STDERR_FILENO);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // whoever opened it, a rank inherits nothing more
  ::fcntl(plan.control_fd, F_SETFD, 0);
  ::fcntl(plan.stop_fd, F_SETFD, 0);
  if (plan.bind && ::sched_setaffinity(0, sizeof plan.cpus, &plan.cpus) != 0) {
    give_up(plan, Step::bind);
  }
  ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  give_up(plan, Step::execute);
}

cpu_set_t cpu_set(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
      throw Failure(Exit::usage, fmt::format("CPU {} is not one of 0 to {}", cpu, CPU_SETSIZE - 1));
    }
    CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  return set;
}

// A rank's stdin, which is always at its end.
Fd empty_input() {
  Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) {
    throw Failure(Exit::cannot_run, fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  }
  return null;
}

/// Why the child is not to be waited for any longer; nothing: exec has succeeded or failed.
std::optional<Failure> not_begun(int fd, const std::string& program, const GivenUp& given_up) {
  const auto deadline = std::chrono::steady_clock::now() + exec_limit;
  while (!wait_for(fd, POLLIN, exec_tick)) {
    if (given_up()) {
      return Failure(Exit::interrupted, fmt::format("ended before '{}' had begun", program));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return Failure(Exit::cannot_run, fmt::format("'{}' takes too long to start", program));
    }
  }
  return std::nullopt;
}

/// Empty when exec succeeded: the pipe closes without a word.
std::string child_error(int fd, const RankCommand& command, int rank, const std::string& program) {
  ChildError report{};
  if (::read(fd, &report, sizeof report) != sizeof report) return "";
  if (report.step == Step::bind) {
    return fmt::format("cannot bind rank {} to CPU {}: {}", rank, fmt::join(command.cpus, ","),
                       std::strerror(report.error));
  }
  return fmt::format("{}cannot run '{}': {}", command.wrap.empty() ? "" : "--wrap: ", program,
                     std::strerror(report.error));
}

// Of one that hangs in the kernel somebody else takes note.
void reap_killed(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + killed_limit;
  while (::waitpid(pid, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

StopCall::StopCall() : event_(::eventfd(0, EFD_CLOEXEC)) {
  if (event_) return;
  throw Failure(Exit::cannot_run, fmt::format("cannot start ranks: {}", std::strerror(errno)));
}

void StopCall::call() const {
  const std::uint64_t one = 1;
  // An eventfd below its maximum always takes a write. Nobody reads it, so all see it.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

RankCommand own_rank(const Variables& settings, const Variables& from_user, const std::string& wrap,
                     const std::vector<int>& cpus) {
  return {.argv = {own_program().string()},
          .environment = rank_environment(current_environment(), settings, from_user).entries,
          .cpus = cpus,
          .wrap = wrap};
}

RankProcess spawn_rank(const RankCommand& command, int rank, int size, int stop_fd,
                       const GivenUp& given_up) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Failure(Exit::cannot_run, fmt::format("cannot open a control connection for rank {}: {}",
                                                rank, std::strerror(errno)));
  }
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("cannot start rank {}: {}", rank, std::strerror(errno)));
  }
  const Fd error_read(ends[0]);
  Fd error_write(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("cannot read what rank {} prints: {}", rank, std::strerror(errno)));
  }
  Fd output(ends[0]);
  const Fd printed(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  const Fd null = empty_input();

  auto argv = wrap_command(command.wrap, rank, command.argv);
  auto environment = command.environment;
  environment.push_back(fmt::format("{}={}", control_fd_variable, theirs.get()));
  environment.push_back(fmt::format("{}={}", stop_fd_variable, stop_fd));
  environment.push_back(fmt::format("{}={}", rank_variable, rank));
  environment.push_back(fmt::format("{}={}", size_variable, size));
  environment.push_back(fmt::format("{}={}", on_machine_variable,
                                    command.on_machine < 0 ? rank : command.on_machine));
  const ChildPlan plan{pointers_to(argv),
                       pointers_to(environment),
                       cpu_set(command.cpus),
                       !command.cpus.empty(),
                       null.get(),
                       printed.get(),
                       theirs.get(),
                       stop_fd,
                       error_write.get(),
                       ::getpid()};

  const pid_t pid = ::fork();
  if (pid == 0) become_rank(plan);
  if (pid < 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("cannot start rank {}: {}", rank, std::strerror(errno)));
  }
  ::setpgid(pid, pid);  // here too: whoever comes first, the group exists when we want to kill it
  error_write.reset();
  auto failure = not_begun(error_read.get(), argv[0], given_up);
  if (!failure) {
    const auto error = child_error(error_read.get(), command, rank, argv[0]);
    if (!error.empty()) failure.emplace(Exit::cannot_run, error);
  }
  if (failure) {
    ::kill(-pid, SIGKILL);
    reap_killed(pid);
    throw *failure;
  }
  return {pid, std::move(ours), std::move(output)};
}

}  // namespace ucxbench
