#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/result/journal.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// A file of that name in a new folder for temporary files, which nobody else can foresee or write
/// to: for what was measured and does not fit where it was asked for. Empty where there is none.
std::filesystem::path spare_place(const std::filesystem::path& name);

/// Beside a run file: what ranks that hung were doing, for reading.
std::filesystem::path stacks_file(const std::filesystem::path& run_file);

/// The file of a run that is being measured, the journal beside it (journal.hpp), which grows by
/// what is measured, the transfer log, and the stacks of ranks that hung. Measured data are not
/// lost with a disk that fills up meanwhile: all go on in the folder for temporary files. What is
/// no regular file, such as a pipe, gets the whole run at the end alone, without a transfer log.
class RunFile {
 public:
  /// For `run`, which is added to only by this until it is whole, at `run.file`. `say` takes one
  /// line each time that the place changes, or that there is none.
  RunFile(Result& run, std::function<void(const std::string&)> say);

  /// Before anything is measured: the run as it is then. Throws Failure(Exit::usage) where it
  /// cannot be written, where another run is writing it, or where fewer than `more_bytes` are free
  /// beyond it.
  void begin(std::uint64_t more_bytes);

  /// Adds an event (events.hpp) to the run and, once it has begun, to its journal. One that has
  /// figures is on the disk then, with all before it. Throws only what apply_event does.
  void add(const Json& event);

  /// More of the transfer log, which begins anew with this run. Never throws.
  void append_transfers(std::span<const std::uint8_t> sections);

  /// Keeps what ranks that hung were doing beside the run file, or in the folder for temporary
  /// files. Where it is; empty where there is no place. Never throws.
  std::filesystem::path put_stacks(const std::string& text);

  /// No launch comes any more. Of many, what the file says of them is made from now on, by other
  /// threads.
  void begin_text() { launches_ = begin_launch_texts(run_); }

  /// Writes the whole run, in place of all before, and gives it away as its file has it, without a
  /// file where none can be read again. Never throws: see `at_its_place`.
  Result finish();

  /// Where the run was last written; empty where it could not be written anywhere.
  const std::filesystem::path& file() const { return file_; }

  /// Whether everything is where it was asked for.
  bool at_its_place() const { return why_moved_.empty(); }

 private:
  std::string so_far();
  void put_down(const std::string& so_far);
  void sync_log();
  void move_on(const std::string& why);
  void to_some_place(const std::function<void()>& write);
  std::filesystem::path log() const;

  Result& run_;
  std::filesystem::path asked_;
  std::filesystem::path elsewhere_;  ///< empty: not needed so far
  std::filesystem::path file_;
  std::function<void(const std::string&)> say_;
  std::string why_moved_;
  LaunchTexts launches_;            ///< once its text has begun
  bool is_file_;                    ///< or a device, a pipe
  std::optional<Journal> journal_;  ///< once it has begun, also while nothing can be written
  bool logs_ = false;
  bool log_is_synced_ = true;
  bool said_nowhere_ = false;
};

}  // namespace ucxbench
