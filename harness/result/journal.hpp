#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/core/fd.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// While a run goes on, its file has what was known at the beginning, with the journal's name in
// `run.journal`. The journal beside it, "run.json.partial", has lines of JSON: the run's id, then
// an event (events.hpp) each, with the run's id as "of". A last line without its end was being
// written as the run ended.

inline constexpr std::string_view journal_suffix = ".partial";

std::filesystem::path journal_of(const std::filesystem::path& run_file);

/// The file of a run, also where its journal is named.
std::filesystem::path run_file_of(const std::filesystem::path& named);

/// The first line.
std::string journal_head(const Result& run);

/// Adds the events in `text`, a journal, to the run that its file begins, and sums it up. Those of
/// another run are left out. Throws Failure(Exit::usage) with one line when a whole line is none of
/// a journal's.
void take_journal(Result& run, std::string_view text, const std::string& name);

/// An event of `run`: compact, with doubles as the run file has them.
std::string journal_line(const Result& run, const Json& event);

/// The journal that a run writes. It is locked (flock(2)) as long as this lives, so that two runs
/// never write into one. On file systems without locks one that is there counts as locked.
class Journal {
 public:
  /// Makes the journal of `run` beside `run_file` anew, with its first line. Throws
  /// Failure(Exit::usage) where another run is writing one, which it names, or where none can be
  /// made, as where a link stands.
  Journal(const std::filesystem::path& run_file, const Result& run);

  /// Appends all of `line`, or nothing. Throws Failure(Exit::usage), also where the file was
  /// removed or replaced meanwhile.
  void append(std::string_view line);

  /// Waits until all lines are on the disk. Throws Failure(Exit::usage).
  void sync();

  /// Whether the file is still there, and none of another run in its place.
  bool is_there() const;

  void remove();

 private:
  std::filesystem::path file_;
  Fd fd_;
};

}  // namespace ucxbench
