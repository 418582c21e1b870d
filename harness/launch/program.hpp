#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/environment.hpp"
#include "harness/launch/signals.hpp"

namespace ucxbench {

/// A program that measures by itself, as this one does.
struct Program {
  std::vector<std::string> argv;  ///< argv[0] is searched in PATH
  Variables environment;          ///< all of it
  /// It is killed when this is over; empty: it limits itself.
  std::optional<std::chrono::seconds> limit{};
  bool is_heard = false;  ///< while it runs, what it says on stderr goes to ours, too
};

struct ProgramEnd {
  int status = 0;    ///< its exit status, if `signal` is 0
  int signal = 0;    ///< what killed it
  std::string out;   ///< its stdout
  std::string said;  ///< its stderr
};

/// The file that execvp would run by that name, by PATH; empty where there is none.
std::filesystem::path find_program(const std::string& name);

/// Runs it to its end, in a process group of its own, with stdin from /dev/null. What `signals`
/// gets meanwhile is passed on: it is asked to end, after 0.7 s or by a second Ctrl-C by SIGTERM,
/// and 0.3 s after that, a second after a second Ctrl-C, it is killed. It gets SIGTERM when the
/// calling thread ends. Throws Failure(Exit::usage) when it cannot be executed.
ProgramEnd run_program(const Program& program, Signals& signals);

/// The same of several at once. `ended` is told, by its place, of each that ends.
std::vector<ProgramEnd> run_programs(const std::vector<Program>& programs, Signals& signals,
                                     const std::function<void(std::size_t)>& ended = {});

}  // namespace ucxbench
