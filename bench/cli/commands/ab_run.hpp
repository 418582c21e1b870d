#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/commands/ab_course.hpp"
#include "bench/cli/commands/ab_sides.hpp"
#include "bench/cli/options/options.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/duet.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/program.hpp"
#include "harness/launch/signals.hpp"
#include "harness/result/result.hpp"
#include "harness/result/run_file.hpp"

namespace ucxbench {

/// How two sides are held against each other (--method).
enum class AbMethod : std::uint8_t { automatic, duet, turns };

/// Of the variables that were added to a side, what UCX uses in none of the suite's cases, by its
/// plan (AbRun::ask); nothing where its program does not answer.
std::vector<std::string> find_unused(const AbSide& side, Signals& signals);

/// Measures a suite with two programs, one launch of all cases after the other, each measured by
/// the side's own program (`suite FILE --launch K/N`) and added to its run file. Where both
/// programs know duets (harness/launch/duet.hpp) they run at the same time, and see to it that one
/// sleeps; else in turns, A B, B A, A B, …. Duets that are decided are left out of the rest
/// (AbCourse).
class AbRun {
 public:
  /// Throws Failure(Exit::cannot_run) where duets cannot be.
  AbRun(std::string suite, const AbExtent& extent, AbMethod method, const GlobalOptions& global);

  /// Asks the sides' programs what they would measure, and with which UCX: AbSide::plan. Returns
  /// the same in words. Where one knows no duets, all is measured in turns, which is said. Throws
  /// Failure(Exit::usage) for one that cannot measure this suite, or not by the method, for a time
  /// that does not suffice, and for sides that do not differ as they were asked to (check_side,
  /// check_plans).
  std::array<std::string, 2> ask(AbSide& base, AbSide& now, Signals& signals);

  /// Whether the programs run at the same time.
  bool side_by_side() const { return side_by_side_; }

  /// Of both sides together, in words; empty where a program did not say.
  std::string whole_time() const { return course_.whole_time(side_by_side_); }

  /// After `ask`: goes on with the runs in the sides' files, and returns how many launches they
  /// have. 0 where there are none that this build began and that were interrupted: then all is
  /// measured.
  int resume(AbSide& base, AbSide& now);

  /// Ends early after Ctrl-C, after a launch that failed (which is said) and, between two launches
  /// of both, when all is decided or the time is over. What was measured is in the sides and on
  /// disk, as their files have it.
  Exit measure(AbSide& base, AbSide& now, Signals& signals);

 private:
  struct Turn {
    Exit exit = Exit::done;
    std::string problem{};  ///< one line; empty when done
  };

  std::vector<std::string> words_for(const AbSide& side, const std::vector<std::string>& global,
                                     int launch) const;
  /// A dry run; with `plan`, a file for the same as data.
  ProgramEnd answer_of(const AbSide& side, Signals& signals,
                       const std::filesystem::path& plan = {}) const;
  Turn measure_launch(AbSide& base, AbSide& now, int launch, Signals& signals);
  /// At the same time.
  Turn take_turns(const std::vector<AbSide*>& sides, int launch, Signals& signals);
  Turn take_in(AbSide& side, const std::string& name, const ProgramEnd& end,
               const std::filesystem::path& part, int launch);
  /// Leaves out of the next launches what is decided.
  void look(AbSide& base, AbSide& now, Signals& signals);
  void say_turn(const std::string& name) const;
  Json facts_of(const AbSide& side) const;
  void add(AbSide& side, const std::filesystem::path& part, int launch) const;
  void keep(AbSide& side) const;
  Exit finish(AbSide& side, const AbSide& other, const Turn& last) const;

  std::string suite_;
  AbCourse course_;
  bool may_be_equal_;
  AbMethod method_;
  std::unique_ptr<DuetFile> duets_;  ///< null where no case may be one, as `no_duets_` says
  std::string no_duets_;
  bool side_by_side_ = false;
  const GlobalOptions& global_;
  int turns_ = 0;
  int turns_before_ = 0;                           ///< of the run that was resumed
  std::chrono::steady_clock::time_point begin_{};  ///< of the first turn
};

}  // namespace ucxbench
