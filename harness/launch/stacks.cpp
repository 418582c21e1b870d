#include "harness/launch/stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <sstream>
#include <system_error>
#include <thread>

#include "harness/core/fd.hpp"
#include "harness/core/files.hpp"
#include "harness/core/helper_program.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/program.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds eu_stack_tick{2};

std::string indented(const std::string& text) {
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) found += "    " + line + "\n";
  return found;
}

std::string functions_of(pid_t process, Clock::time_point deadline) {
  if (Clock::now() >= deadline) return "(no time was left to look at its functions)";
  if (find_program("eu-stack").empty()) {
    return "(no functions: eu-stack is not here; Debian has it in elfutils)";
  }
  const Fd output(::memfd_create("stacks", MFD_CLOEXEC));
  // A server of debug information may be a network away; the files themselves have names, too.
  HelperProgram program({"env", "DEBUGINFOD_URLS=", "eu-stack", "--module", "-n", "64", "--pid",
                         std::to_string(process)},
                        HelperProgram::Setup{.output = output.get(), .errors = output.get()});
  while (!program.status()) {
    // It waits for a thread that is stuck in the kernel.
    if (Clock::now() >= deadline) return "(no functions: eu-stack was not done in time)";
    std::this_thread::sleep_for(eu_stack_tick);
  }
  return text_of(fmt::format("/proc/self/fd/{}", output.get()));
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

std::string stacks_of_process(pid_t process, Clock::time_point deadline) {
  const auto name = first_line(fmt::format("/proc/{}/comm", process));
  std::string text;
  for (const auto& thread : threads_of(process)) {
    const auto task = fmt::format("/proc/{}/task/{}", process, thread.id);
    text += fmt::format("  process {} ({}), thread {} ({}), {}{}\n", process, name, thread.id,
                        first_line(task + "/comm"), state_in_words(thread.state), in_kernel(task));
    if (thread.state == 'D') text += indented(text_of(task + "/stack"));
  }
  return text + indented(functions_of(process, deadline));
}

}  // namespace

std::string stacks_of_group(pid_t group, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  for (const auto& process : all_processes()) {
    if (process.group != group || process.state == 'Z') continue;
    try {
      text += stacks_of_process(process.id, deadline);
    } catch (const std::system_error& error) {
      text += fmt::format("    (no functions: eu-stack does not start: {})\n", error.what());
    }
  }
  return text;
}

}  // namespace ucxbench
