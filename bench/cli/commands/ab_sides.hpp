#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/launch/environment.hpp"
#include "harness/result/result.hpp"
#include "harness/result/run_file.hpp"

namespace ucxbench {

/// One of the two that are compared: a build of this program, in an environment.
struct AbSide {
  std::string name;     ///< "base", "new": its options are --base and --base-env
  std::string program;  ///< as given, or this program's own path
  Variables added;      ///< to this process's environment
  /// The option that chose its UCX, with its value, "--new-ucx /opt/ucx", and the folder of that
  /// UCX's libraries; both empty where none did.
  std::string ucx_asked{};
  std::filesystem::path ucx_libraries{};
  std::filesystem::path file{};  ///< where its run is kept
  Json plan{};                   ///< what its program says of itself (AbRun::ask); null: nothing
  std::vector<std::string> unused{};  ///< of `added`, what UCX uses in none of the suite's cases
  std::optional<Result> result{};     ///< empty before its first launch has ended
  std::optional<RunFile> kept{};      ///< of `result`
  std::vector<int> turns{};           ///< which of all launches were its own, counted from 0
};

/// The environment in which its program runs. Options of ours must not become the other program's
/// by way of their environment twins.
Variables environment_of(const AbSide& side);

/// "UCX 1.13.1: /usr/lib/libucp.so.0 (build 1a2b3c4d5e6f), libuct.so.0 (build …), libucs.so.0
/// (build …), modules in /usr/lib/ucx": which the side's program has loaded.
std::string ucx_in_words(const AbSide& side);

/// The same for the run file: {"version", "library", "modules", "libraries": {NAME: "PATH (build
/// …)"}}; null where the side's program does not say.
Json ucx_of(const AbSide& side);

/// Every UCX_* that its program sees, which a script may have set, and what was added.
Variables variables_of(const AbSide& side);

/// The environments in which to ask what UCX does not use, one for each way in which the side's
/// cases start UCX: it says so there whatever the user wants to hear of it.
std::vector<Variables> talkative_environments(const AbSide& side);

/// Which of the variables that were added UCX calls unused, by what it said.
std::vector<std::string> unused_in(const AbSide& side, const std::string& said);

/// What differs between the sides as files and is the same code by its build id: "libucp.so.0";
/// empty where nothing is, or a program does not say.
std::vector<std::string> same_builds(const AbSide& base, const AbSide& now);

/// Throws Failure(Exit::usage), before a program is asked, where both sides are one program in one
/// environment.
void check_difference(const AbSide& base, const AbSide& now);

/// Throws Failure(Exit::usage), by what its program says of itself, where the side cannot be what
/// it was asked to be: UCX has no variable of that name, the suite's cases set it themselves, or
/// the program does not load the UCX of its prefix.
void check_side(const AbSide& side);

/// Throws Failure(Exit::usage), likewise, where what was asked for makes no difference: both load
/// one UCX though variables or a prefix were to choose another; or programs, libraries and settings
/// are all equal.
void check_plans(const AbSide& base, const AbSide& now);

}  // namespace ucxbench
